import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { fileNameSchema, type FileStore, mediaTypeOf } from '#shared/files/index.ts';
import { type Answer, type Call, route, type Route } from '#shared/http/index.ts';
import { sessionPathSchema } from '../../sessions/sessions.ts';
import { FORM_BYTES, isForm, withFormFile } from './read-form.ts';

const uploadSchema = z
  .strictObject({
    id: z.string().meta({ description: 'For `attachments` of a task or message.' }),
    name: z.string().meta({ description: 'Cleaned: no path, no control characters.' }),
    mediaType: z.string().meta({ description: 'From `Content-Type`.' }),
    bytes: z.int().meta({ description: 'Its size.' }),
    expiresAt: z.iso.datetime().meta({ description: 'Until then a task can have it.' }),
  })
  .meta({
    id: 'Upload',
    examples: [
      {
        id: '5f0c3a9d2b7e4816a1d4c8f27b90e365',
        name: 'photo.jpg',
        mediaType: 'image/jpeg',
        bytes: 48_213,
        expiresAt: '2026-05-02T09:00:00.000Z',
      },
    ],
  });

const querySchema = z.strictObject({
  name: fileNameSchema.optional().meta({ description: 'What the file is called; `file` by default.' }),
});

const fileBody = {
  takesFile: true,
  request: { query: querySchema, body: z.string().meta({ format: 'binary' }) },
  bodyMedia: ['*/*'],
  responses: { 201: uploadSchema },
} as const;

/** `POST /v1/uploads`: the body is the file; it is on disk before the 201. */
export function postUpload({ files }: { files: FileStore }): Route {
  return route({
    method: 'post',
    path: '/v1/uploads',
    operationId: 'createUpload',
    summary: 'Upload a file for a task or message',
    description:
      'The body is the file itself, or a form (`multipart/form-data`) with one file. An upload that no task has is removed after `files.uploadMs`.',
    scope: 'submit',
    errors: ['request.too-large', 'request.unsupported-media-type', 'limit.storage', 'limit.bodies', 'unavailable.files'],
    audit: 'work',
    ...fileBody,
    handle: async ({ query: { name } }, call) => await storeUpload(files, call, { name, maxBytes: files.settings.maxFileBytes }),
  });
}

/** `POST /v1/sessions/:id/uploads`: the same for a message of the session, also by its visitors. */
export function postSessionUpload({ files }: { files: FileStore }): Route {
  return route({
    method: 'post',
    path: '/v1/sessions/:id/uploads',
    operationId: 'createSessionUpload',
    summary: 'Upload a file for a message of a session',
    description:
      'As `POST /v1/uploads`. A visitor may send files of `files.maxVisitorFileBytes`, and names them as `attachments` of a message by their `uploadId`.',
    tag: 'sessions',
    scope: 'submit',
    errors: ['request.too-large', 'request.unsupported-media-type', 'limit.storage', 'limit.bodies', 'unavailable.files'],
    forVisitors: true,
    audit: 'work',
    ...fileBody,
    request: { ...fileBody.request, params: sessionPathSchema },
    handle: async ({ params: { id: session }, query: { name } }, call) =>
      await storeUpload(files, call, { name, session, maxBytes: maxBytesOf(files, call) }),
  });
}

/** Errors: `auth.forbidden` for a visitor where visitors send no files. */
function maxBytesOf({ settings: { maxFileBytes, maxVisitorFileBytes } }: FileStore, { key }: Call): number {
  if (key?.session === undefined) return maxFileBytes;
  if (maxVisitorFileBytes > 0) return Math.min(maxFileBytes, maxVisitorFileBytes);
  throw new MusterError('auth.forbidden', 'Visitors send no files here (files.maxVisitorFileBytes)');
}

async function storeUpload(
  files: FileStore,
  call: Call,
  { name, session, maxBytes }: { name: string | undefined; session?: string; maxBytes: number },
): Promise<Answer> {
  const upload = await withSentFile(call, maxBytes, async (sent) => {
    const cleanName = name ?? fileNameSchema.catch('file').parse(sent.name);
    const described = { name: cleanName, mediaType: mediaTypeOf(cleanName, sent.mediaType), ...(session === undefined ? {} : { session }) };
    return await files.upload(call.tenant, described, sent.content);
  });
  const { file: id, mediaType, bytes, expiresAt } = upload;
  call.log.info({ event: 'upload.created', tenant: call.tenant, upload: id, bytes }, 'a file was uploaded');
  return { status: 201, body: { id, name: upload.name, mediaType, bytes, expiresAt } };
}

interface SentFile {
  name: string;
  mediaType: string | undefined;
  content: AsyncIterable<Uint8Array>;
}

/** Hands on the body as a file, or the file of the form that it is; both as they come. */
async function withSentFile<T>(
  call: Pick<Call, 'headers' | 'readFile'>,
  maxBytes: number,
  use: (sent: SentFile) => Promise<T>,
): Promise<T> {
  const contentType = call.headers['content-type'];
  if (contentType === undefined || !isForm(contentType)) {
    return await use({ name: 'file', mediaType: contentType, content: call.readFile(maxBytes) });
  }
  // The form is a little larger than its file.
  return await withFormFile(call.readFile(maxBytes + FORM_BYTES), { contentType, maxBytes }, use);
}
