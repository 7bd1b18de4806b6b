import { open } from 'node:fs/promises';
import { TaskFailure } from '../../errors/index.ts';
import type { DaemonAttachment, DaemonCheckpoint } from './daemon-task.ts';

/** What may be sent as a file. */
export type FileContent = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

const TOO_LARGE = 413;
/** How often a transfer is tried that nobody refused. */
const TRIES = 3;

/** Writes an attachment to a file that does not exist yet. Rejects with a `TaskFailure`. */
export async function downloadAttachment({ name, url, bytes }: DaemonAttachment, path: string, signal: AbortSignal): Promise<void> {
  const response = await transfer(`the attachment "${name}"`, () => fetch(url, { signal }), signal);
  const file = await open(path, 'wx', 0o600);
  try {
    let written = 0;
    for await (const piece of response.body ?? []) {
      written += piece.byteLength;
      if (written > bytes) break;
      await file.write(piece);
    }
    if (written !== bytes)
      throw new TaskFailure('CONNECTION_LOST', `The attachment "${name}" has not the ${bytes} bytes that it should have`);
  } finally {
    await file.close();
  }
}

/** Sends a file that the task made. Rejects with a `TaskFailure`. `content` is called for each try. */
export async function uploadArtifact(
  artifactsUrl: string | null,
  { name, mediaType, content }: { name: string; mediaType: string; content: () => FileContent },
  signal: AbortSignal,
): Promise<void> {
  if (artifactsUrl === null) throw new TaskFailure('PERMISSION_DENIED', `The file "${name}" cannot be sent: this task takes no files`);
  const put = (): Promise<Response> =>
    fetch(`${artifactsUrl}/${encodeURIComponent(name)}`, {
      method: 'PUT',
      headers: { 'Content-Type': mediaType },
      body: content(),
      duplex: 'half',
      signal,
    });
  const response = await transfer(`the file "${name}"`, put, signal);
  await response.body?.cancel();
}

/** Keeps a checkpoint. Rejects with a `TaskFailure`, OUTPUT_TOO_LARGE for one that is too long. */
export async function sendCheckpoint(
  place: Pick<DaemonCheckpoint, 'url' | 'key'> | null,
  checkpoint: string,
  signal: AbortSignal,
): Promise<void> {
  if (place === null) throw new TaskFailure('PERMISSION_DENIED', 'The checkpoint cannot be sent: the hub takes none');
  const headers = { 'Content-Type': 'application/json', 'Muster-Attempt-Key': place.key };
  const body = JSON.stringify({ checkpoint });
  const response = await transfer('the checkpoint', () => fetch(place.url, { method: 'POST', headers, body, signal }), signal);
  await response.body?.cancel();
}

async function transfer(what: string, send: () => Promise<Response>, signal: AbortSignal): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await send().catch((error: unknown) => error);
    signal.throwIfAborted();
    if (response instanceof Response && response.ok) return response;
    const isRefused = response instanceof Response && response.status < 500 && response.status !== 429;
    if (!isRefused && tries < TRIES) continue;
    throw transferFailure(what, response, isRefused);
  }
}

function transferFailure(what: string, found: unknown, isRefused: boolean): TaskFailure {
  if (found instanceof Response) {
    const code = found.status === TOO_LARGE ? 'OUTPUT_TOO_LARGE' : isRefused ? 'PERMISSION_DENIED' : 'NETWORK_ERROR';
    return new TaskFailure(code, `The server answered ${found.status} for ${what}`);
  }
  const reason = found instanceof Error ? found.message : String(found);
  return new TaskFailure('NETWORK_ERROR', `The connection failed for ${what}: ${reason}`, { cause: found });
}
