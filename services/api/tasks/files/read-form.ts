import { Readable } from 'node:stream';
import { MusterError } from '#shared/errors/index.ts';

/** A file of a form, as browsers and `curl -F` send it. */
interface FormFile {
  name: string;
  mediaType: string;
  content: Readable;
}

/** What a form has beside its file at most: names and boundaries. */
export const FORM_BYTES = 65_536;

export function isForm(contentType: string | undefined): boolean {
  return /^multipart\/form-data\b/i.test(contentType ?? '');
}

/**
 * Reads the one file of a form, which is in memory until it is stored; `body` is bounded by its reader.
 * Errors: `request.invalid` without a file, or with several; `request.too-large`; `request.malformed`.
 */
export async function readForm(body: AsyncIterable<Uint8Array>, contentType: string, maxBytes: number): Promise<FormFile> {
  const bytes = await readAll(body);
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
    .formData()
    .catch((cause: unknown) => {
      throw new MusterError('request.malformed', 'The body is no form, although its content type says so', { cause });
    });
  const files = [...form.values()].filter((value) => typeof value !== 'string');
  const [file] = files;
  if (!file || files.length > 1) throw new MusterError('request.invalid', `expected one file in the form, got ${files.length}`);
  if (file.size > maxBytes) throw tooLarge(maxBytes);
  return { name: file.name, mediaType: file.type, content: Readable.fromWeb(file.stream()) };
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): MusterError {
  return new MusterError('request.too-large', `expected a file of at most ${maxBytes} bytes`, { details: { maxBytes } });
}
