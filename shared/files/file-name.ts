import { z } from 'zod';
import { truncateBytes } from '../text/index.ts';

const MAX_NAME_BYTES = 200;
const MAX_EXTENSION_BYTES = 20;
/** Names of devices on Windows, with any extension. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/**
 * A name that is safe as the name of a file on any system and in a header: the last part of a path, without control, direction and
 * reserved characters, without dots in front, of at most 200 bytes. The extension is kept.
 */
export function cleanFileName(given: string): string {
  const last = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .replaceAll(/[<>:"|?*]/g, '_')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
    .replace(/[. ]+$/, '');
  const safe = DEVICES.test(plain) ? `_${plain}` : plain;
  return shorten(safe) || 'file';
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MAX_EXTENSION_BYTES ? name.slice(dot) : '';
  const stem = truncateBytes(name.slice(0, name.length - extension.length), MAX_NAME_BYTES - Buffer.byteLength(extension));
  return `${stem.replace(/[. ]+$/, '')}${extension}`;
}

/** The names in order, each made unique by a number before its extension: `a.txt`, `a-2.txt`. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const dot = name.lastIndexOf('.');
    const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
    let unique = name;
    for (let number = 2; taken.has(unique.toLowerCase()); number += 1) unique = `${stem}-${number}${extension}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}

export const DEFAULT_MEDIA_TYPE = 'application/octet-stream';
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** A media type in lower case without its parameters; `application/octet-stream` for what is none. */
export function cleanMediaType(given: string | null | undefined): string {
  const type = (given ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return MEDIA_TYPE.test(type) ? type : DEFAULT_MEDIA_TYPE;
}

/** `Content-Disposition` by which a browser saves a file under its name and never shows it. */
export function contentDisposition(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (mark) => `%${mark.codePointAt(0)?.toString(16).toUpperCase() ?? ''}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

export const fileNameSchema = z.string().min(1).max(1000).transform(cleanFileName);
export const mediaTypeSchema = z
  .string()
  .max(300)
  .transform((text) => text.trim().toLowerCase())
  .refine((text) => MEDIA_TYPE.test(text), 'expected a media type such as image/png')
  .meta({ description: 'Such as `image/png`.' });
