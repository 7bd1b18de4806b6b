import type { Attachment } from 'chat';
import pMap from 'p-map';
import { z } from 'zod';
import { cleanFileName, cleanMediaType, type FileStore } from '#shared/files/index.ts';
import type { Log } from '#shared/log/index.ts';
import { LATE, within } from '#shared/time/index.ts';

/** A person's file that was stored. */
export const chatFileSchema = z.object({ uploadId: z.string() });
export type ChatFile = z.infer<typeof chatFileSchema>;

export interface ReceiveFilesPorts {
  readonly files: Pick<FileStore, 'upload' | 'settings'>;
  /** How long one file may take to come from its platform. */
  readonly timeoutMs: number;
  readonly log: Log;
}

const DOWNLOADS_AT_ONCE = 4;
const EXTENSIONS: Partial<Record<Attachment['type'], string>> = { image: 'jpg', video: 'mp4', audio: 'ogg' };
const MEDIA_TYPES: Partial<Record<Attachment['type'], string>> = { image: 'image/jpeg', video: 'video/mp4', audio: 'audio/ogg' };

/**
 * Downloads and stores what a person attached, in order. A file that is too large, does not come in time, or finds no room is left out: the
 * message counts all the same, and its text names the file.
 */
export async function receiveFiles(ports: ReceiveFilesPorts, tenant: string, attachments: readonly Attachment[]): Promise<ChatFile[]> {
  const taken = attachments.slice(0, ports.files.settings.maxPerTask);
  return (await pMap(taken, (each) => receiveFile(ports, tenant, each), { concurrency: DOWNLOADS_AT_ONCE })).flat();
}

async function receiveFile({ files, timeoutMs, log }: ReceiveFilesPorts, tenant: string, attachment: Attachment): Promise<ChatFile[]> {
  const { type, size = 0, fetchData } = attachment;
  if (fetchData === undefined) return [];
  try {
    if (size > files.settings.maxFileBytes) throw new Error(`It has ${size} bytes`);
    const data = await within(fetchData.call(attachment), timeoutMs);
    if (data === LATE) throw new Error(`It did not come within ${timeoutMs} ms`);
    const { file } = await files.upload(tenant, describe(attachment), once(data instanceof ArrayBuffer ? new Uint8Array(data) : data));
    return [{ uploadId: file }];
  } catch (error) {
    log.warn({ event: 'chat.file-left-out', tenant, type, err: error }, 'a file of a person could not be taken');
    return [];
  }
}

/** Platforms name documents, and neither photos nor voice. */
function describe({ type, name, mimeType }: Attachment): { name: string; mediaType: string } {
  const extension = EXTENSIONS[type];
  return {
    name: cleanFileName(name ?? (extension === undefined ? type : `${type}.${extension}`)),
    mediaType: cleanMediaType(mimeType ?? MEDIA_TYPES[type]),
  };
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
