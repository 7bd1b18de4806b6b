import type { Request } from 'express';
import { MusterError } from '../../errors/index.ts';
import { LATE, within } from '../../time/index.ts';
import { bodyTooLarge } from '../answers/problems.ts';

/** How long a refused sender may go on sending, so that it can read why; what comes is dropped. */
const LINGER_MS = 2000;

/**
 * The bytes of a file that a request sends, as they come. What is not compressed is what was sent; compressed ones are refused.
 * Errors: `request.too-large`, `request.timeout`, `request.malformed`, `request.unsupported-media-type`.
 */
export async function* streamBody(request: Request, { maxBytes, idleMs }: { maxBytes: number; idleMs: number }): AsyncGenerator<Buffer> {
  const encoding = (request.get('content-encoding') ?? 'identity').toLowerCase();
  if (encoding !== 'identity') throw new MusterError('request.unsupported-media-type', 'Content-Encoding: send the file as it is');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const chunks = request.iterator({ destroyOnReturn: false });
  let bytes = 0;
  try {
    for (let chunk = await nextChunk(chunks, idleMs); chunk !== null; chunk = await nextChunk(chunks, idleMs)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
      yield chunk;
    }
  } finally {
    // Else the rest of a refused body would stay where it is. Nobody waits for it: a chunk that does not come delays this, too.
    void chunks.return?.().catch(() => undefined);
  }
  if (!request.complete) throw brokenBody();
}

/** Null at the end of the body. */
async function nextChunk(chunks: AsyncIterator<unknown>, idleMs: number): Promise<Buffer | null> {
  const next = await within(chunks.next(), idleMs).catch((cause: unknown) => {
    throw brokenBody(cause);
  });
  if (next === LATE) throw new MusterError('request.timeout', `The body did not go on for ${idleMs} ms`);
  return next.value instanceof Buffer ? next.value : null;
}

function brokenBody(cause?: unknown): MusterError {
  return new MusterError('request.malformed', 'The body did not come in full', { cause });
}

function ignore(): void {
  return undefined;
}

/** Ignores what is still sent after a refusal, and cuts the sender off after a while. */
export function dropBody(request: Request): void {
  if (request.complete) return;
  // With a listener for data the body goes on also when its reader leaves later.
  request.on('error', ignore).on('data', ignore).resume();
  setTimeout(() => {
    if (!request.complete) request.destroy();
  }, LINGER_MS).unref();
}
