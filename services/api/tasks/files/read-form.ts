import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import createBusboy, { type Busboy } from 'busboy';
import { MusterError } from '#shared/errors/index.ts';

/** A file of a form, as browsers and `curl -F` send it. */
interface FormFile {
  name: string;
  mediaType: string;
  content: AsyncIterable<Uint8Array>;
}

interface FormBounds {
  readonly contentType: string;
  /** Of the file. */
  readonly maxBytes: number;
  /** Gets the fields of the form beside the file, which may come behind it: complete once the file's content has ended. By default they are skipped. */
  readonly fields?: Map<string, string>;
}

/** What a form has beside its file at most: names and boundaries. */
export const FORM_BYTES = 65_536;
/** Each part costs, however small it is. */
const MAX_PARTS = 100;

export function isForm(contentType: string | undefined): boolean {
  return /^multipart\/form-data\b/i.test(contentType ?? '');
}

/**
 * Hands the one file of a form to `use`, which reads it as it comes: of a file of any size only a few chunks are in memory. Its content ends
 * only once the form has ended without another file, so that what is stored by then was sent alone; `body` is bounded by its reader.
 * Errors: `request.invalid` without a file, with several, or with too many parts; `request.too-large`; `request.malformed`; those of `body`
 * and `use`.
 */
export async function withFormFile<T>(
  body: AsyncIterable<Uint8Array>,
  { contentType, maxBytes, fields }: FormBounds,
  use: (file: FormFile) => Promise<T>,
): Promise<T> {
  const parser = openParser(contentType, fields);
  const { promise: found, resolve, reject } = Promise.withResolvers<FormFile>();
  const parsed = pipeline(body, parser).catch((error: unknown) => {
    throw refusalOf(error);
  });
  parser.once('file', (_field, stream, { filename = 'file', mimeType }) => {
    // The parser and what ends it may both fail the stream; the second error has no reader any more.
    stream.on('error', () => undefined);
    parsed.catch((error: Error) => stream.destroy(error));
    resolve({ name: decodeName(filename), mediaType: mimeType, content: readContent(stream, parsed, maxBytes) });
  });
  parsed.then(() => reject(wrongNumber('none')), reject);
  try {
    return await use(await found);
  } finally {
    // Ends the reading of the body when `use` did not read to the end.
    parser.destroy();
  }
}

function openParser(contentType: string, fields: Map<string, string> | undefined): Busboy {
  const parser = createParser(contentType, fields === undefined ? 0 : MAX_FIELDS);
  parser.on('field', (name, value) => fields?.set(name, value));
  // Errors after the first have no reader, and would end the process.
  parser.on('error', () => undefined);
  parser.once('filesLimit', () => parser.destroy(wrongNumber('several')));
  parser.once('partsLimit', () => {
    parser.destroy(
      new MusterError('request.invalid', `expected at most ${MAX_PARTS} parts in the form`, { details: { maxParts: MAX_PARTS } }),
    );
  });
  return parser;
}

const MAX_FIELDS = 20;
const MAX_FIELD_BYTES = 1000;

function createParser(contentType: string, fields: number): Busboy {
  try {
    const limits = { files: 1, fields, fieldSize: MAX_FIELD_BYTES, parts: MAX_PARTS + 1 };
    return createBusboy({ headers: { 'content-type': contentType }, defParamCharset: 'utf8', limits });
  } catch (error) {
    throw refusalOf(error);
  }
}

async function* readContent(stream: Readable, parsed: Promise<void>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw refusalOf(error);
  }
  await parsed;
}

/** Browsers escape these characters only. */
function decodeName(name: string): string {
  return name.replaceAll('%22', '"').replaceAll(/%0A/gi, '\n').replaceAll(/%0D/gi, '\r');
}

/** Errors of the parser have no codes. */
function refusalOf(error: unknown): MusterError {
  if (error instanceof MusterError) return error;
  return new MusterError('request.malformed', 'The body is no form, although its content type says so', { cause: error });
}

function wrongNumber(got: 'none' | 'several'): MusterError {
  return new MusterError('request.invalid', `expected one file in the form, got ${got}`);
}

function tooLarge(maxBytes: number): MusterError {
  return new MusterError('request.too-large', `expected a file of at most ${maxBytes} bytes`, { details: { maxBytes } });
}
