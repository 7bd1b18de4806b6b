import type { HttpCalls } from './http-calls.ts';
import type { Upload } from './openapi.gen.ts';

export interface UploadOptions {
  /** What the file is called. Defaults to the name of a `File`, else `file`. */
  name?: string | undefined;
  signal?: AbortSignal | undefined;
}

const ANY_TYPE = 'application/octet-stream';

/** Stores a file. Sent again after a cut connection: an upload that no task has is removed by the fleet. */
export async function uploadFile(calls: HttpCalls, path: string, file: Blob, { name, signal }: UploadOptions): Promise<Upload> {
  const ownName = 'name' in file && typeof file.name === 'string' && file.name !== '' ? file.name : undefined;
  const headers = { 'Content-Type': file.type === '' ? ANY_TYPE : file.type };
  return await calls.json({ method: 'POST', path, query: { name: name ?? ownName }, file, headers, isRepeatable: true, signal });
}
