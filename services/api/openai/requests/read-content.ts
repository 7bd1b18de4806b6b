import { z } from 'zod';
import { invalidRequest } from '#shared/http/index.ts';

/** A file in a request: what it has of it, where it is, or what was uploaded before. */
export type GivenFile =
  | { readonly kind: 'data'; readonly name: string; readonly mediaType: string; readonly data: Buffer }
  | { readonly kind: 'url'; readonly url: string; readonly param: string }
  | { readonly kind: 'upload'; readonly id: string };

/** A message's text, and what comes with it. */
export interface Content {
  readonly text: string;
  readonly files: readonly GivenFile[];
}

const text = z.string();
const address = z.string().min(1);
const fileFields = z.looseObject({
  file_id: text.optional(),
  file_data: text.optional(),
  file_url: address.optional(),
  filename: z.string().max(1000).optional(),
});
const sound = z.looseObject({ data: text, format: z.string().max(20) });

const TEXTS = ['text', 'input_text', 'output_text', 'summary_text'] as const;

/** The parts of both forms: those of chats, and those of responses. */
const partSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(TEXTS), text }),
  z.looseObject({ type: z.literal('refusal'), refusal: text }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: address }) }),
  z.looseObject({ type: z.literal('input_image'), image_url: address.optional(), file_id: text.optional() }),
  z.looseObject({ type: z.literal('file'), file: fileFields }),
  fileFields.extend({ type: z.literal('input_file') }),
  z.looseObject({ type: z.literal('input_audio'), input_audio: sound }),
]);
type Part = z.infer<typeof partSchema>;

const MAX_PARTS = 1000;

/** A text, or parts: texts, pictures, sound and files. */
export const contentSchema = z.union([z.string(), z.array(partSchema).max(MAX_PARTS)]);

/** Reads a message's content. `param`: where it is, for the error. Errors: `request.invalid`. */
export function readContent(content: z.infer<typeof contentSchema> | null | undefined, param: string): Content {
  if (content === null || content === undefined) return { text: '', files: [] };
  if (typeof content === 'string') return { text: content, files: [] };
  const texts: string[] = [];
  const files: GivenFile[] = [];
  for (const [at, part] of content.entries()) {
    const read = readPart(part, `${param}[${at}]`);
    if (typeof read === 'string') texts.push(read);
    else files.push(read);
  }
  return { text: texts.join('\n'), files };
}

function readPart(part: Part, param: string): string | GivenFile {
  if (part.type === 'refusal') return part.refusal;
  return isText(part) ? part.text : readMedium(part, param);
}

type TextPart = Extract<Part, { text: string }>;

function isText(part: Part): part is TextPart {
  return TEXTS.some((type) => type === part.type);
}

type Medium = Exclude<Part, TextPart | { refusal: string }>;

function readMedium(part: Medium, param: string): GivenFile {
  switch (part.type) {
    case 'image_url':
      return readAddress(part.image_url.url, `${param}.image_url.url`);
    case 'input_image':
      return readFile({ file_id: part.file_id, file_url: part.image_url }, param, 'image_url');
    case 'file':
      return readFile(part.file, `${param}.file`);
    case 'input_file':
      return readFile(part, param);
    case 'input_audio':
      return decode({ mediaType: `audio/${part.input_audio.format}`, base64: part.input_audio.data }, param);
  }
}

type FileFields = { [Name in 'file_id' | 'file_data' | 'file_url' | 'filename']?: string | undefined };

function readFile({ file_id: id, file_data: data, file_url: url, filename }: FileFields, param: string, field = 'file_url'): GivenFile {
  if (id !== undefined) return { kind: 'upload', id: id.replace(/^file-/, '') };
  if (url !== undefined) return readAddress(url, `${param}.${field}`);
  if (data === undefined) throw wrong(param, 'expected a file: "file_id", its data or its address');
  const file = data.startsWith('data:') ? readAddress(data, param) : decode({ mediaType: OCTETS, base64: data }, param);
  return filename === undefined || file.kind !== 'data' ? file : { ...file, name: filename };
}

const OCTETS = 'application/octet-stream';
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w-]+=[^;,]*)*;base64,/;
const BASE64 = /^[\w+/-]*={0,2}$/;

function readAddress(url: string, param: string): GivenFile {
  if (/^https?:\/\//i.test(url)) return { kind: 'url', url, param };
  const [head, mediaType = OCTETS] = DATA_URL.exec(url.slice(0, 1000)) ?? [];
  if (head === undefined) throw wrong(param, 'expected an address (https:) or data in base64 (data:...;base64,...)');
  return decode({ mediaType, base64: url.slice(head.length) }, param);
}

function decode({ mediaType, base64 }: { mediaType: string; base64: string }, param: string): Extract<GivenFile, { kind: 'data' }> {
  if (base64 === '' || !BASE64.test(base64)) throw wrong(param, 'expected data in base64');
  const [kind = 'file', subtype = ''] = mediaType.split('/');
  const extension = /^[a-z0-9]+/i.exec(subtype)?.[0] ?? 'bin';
  const name = kind === 'application' ? `file.${extension}` : `${kind}.${extension}`;
  return { kind: 'data', name, mediaType, data: Buffer.from(base64, 'base64') };
}

/** `request.invalid` for one field, which the client is told by its name. */
export function wrong(param: string, message: string): Error {
  return invalidRequest([{ path: `body.${param}`, message }]);
}
