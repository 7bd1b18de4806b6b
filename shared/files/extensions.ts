import { cleanMediaType, DEFAULT_MEDIA_TYPE } from './file-name.ts';

/** Of names that agents and chats use often; any other file is bytes. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  aac: 'audio/aac',
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  flac: 'audio/flac',
  gif: 'image/gif',
  gz: 'application/gzip',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  log: 'text/plain',
  m4a: 'audio/mp4',
  md: 'text/markdown',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** The media type that a name's extension stands for. */
export function mediaTypeOfName(name: string): string {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined) ?? DEFAULT_MEDIA_TYPE;
}

/** The media type that a sender declares, or the name's where the sender declares none or `application/octet-stream`. */
export function mediaTypeOf(name: string, declared: string | null | undefined): string {
  const type = cleanMediaType(declared);
  return type === DEFAULT_MEDIA_TYPE ? mediaTypeOfName(name) : type;
}
