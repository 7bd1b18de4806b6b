import { z } from 'zod';
import { DEFAULT_MEDIA_TYPE, fileNameSchema, mediaTypeSchema } from './file-name.ts';

const FILE_ID = /^[0-9a-f]{32}$/;

/** A file that a request brings: what was uploaded before, or what is fetched before the task's first attempt. */
export const attachmentSchema = z
  .strictObject({
    uploadId: z.string().regex(FILE_ID, 'expected the id of an upload').optional().meta({ description: 'Of `POST /v1/uploads`.' }),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional()
      .meta({ description: 'Fetched before the first attempt; a public address.' }),
    mediaType: mediaTypeSchema.optional(),
    name: fileNameSchema.optional().meta({ description: 'By default that of the upload, or the last part of the address.' }),
  })
  .refine(({ uploadId, url }) => (uploadId === undefined) !== (url === undefined), 'expected either "uploadId" or "url"')
  .meta({ id: 'Attachment', examples: [{ url: 'https://example.com/report.pdf', mediaType: 'application/pdf', name: 'report.pdf' }] });

export type AttachmentRequest = z.infer<typeof attachmentSchema>;

/** An attachment as it is stored with its task. */
export interface Attachment {
  name: string;
  mediaType: string;
  /** Id of the stored file; null for one that is fetched from `url`. */
  file: string | null;
  url: string | null;
  bytes: number | null;
}

/** The name of what an address leads to. */
function nameOfUrl(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || 'file';
  } catch {
    return last || 'file';
  }
}

/** An attachment that is fetched later, as it is stored. */
export function attachmentOfUrl(url: string, { name, mediaType }: Pick<AttachmentRequest, 'name' | 'mediaType'>): Attachment {
  return {
    name: name ?? fileNameSchema.parse(nameOfUrl(url).slice(0, 1000)),
    mediaType: mediaType ?? DEFAULT_MEDIA_TYPE,
    file: null,
    url,
    bytes: null,
  };
}
