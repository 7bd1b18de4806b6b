import { MusterError } from '../../errors/index.ts';
import { type Attachment, type AttachmentRequest, attachmentOfUrl, uniqueNames, uploadNotFound } from '../../files/index.ts';
import type { TaskBody } from '../../tasks/index.ts';
import type { Intake } from './request.ts';

/**
 * The attachments of a task that is about to be accepted, with unique names; null for none. From here on its uploads are kept as long as it.
 * Errors: `upload.not-found`, `request.too-large`.
 */
export async function bindAttachments(
  { files }: Pick<Intake, 'files'>,
  body: Pick<TaskBody, 'tenant' | 'id' | 'session' | 'visitor'>,
  requests: readonly AttachmentRequest[] | undefined,
): Promise<Attachment[] | null> {
  if (requests === undefined || requests.length === 0) return null;
  if (files === undefined) throw new MusterError('request.invalid', 'attachments: this process takes no files');
  const { maxPerTask } = files.settings;
  if (requests.length > maxPerTask) throw new MusterError('request.too-large', `A task has at most ${maxPerTask} attachments`);
  const uploads = requests.flatMap(({ uploadId }) => uploadId ?? []);
  if (body.visitor !== null) await assertOfSession(files, body, uploads);
  const stored = (uploads.length === 0 ? [] : await files.bind(body.tenant, body.id, uploads)).values();
  const attachments = requests.map((request): Attachment => {
    if (request.url !== undefined) return attachmentOfUrl(request.url, request);
    const file = stored.next().value;
    if (file === undefined) throw new Error('An upload got no answer');
    return {
      file: file.file,
      name: request.name ?? file.name,
      mediaType: request.mediaType ?? file.mediaType,
      bytes: file.bytes,
      url: null,
    };
  });
  for (const [place, name] of uniqueNames(attachments.map((each) => each.name)).entries()) {
    const attachment = attachments[place];
    if (attachment) attachment.name = name;
  }
  return attachments;
}

/** A visitor sends what was uploaded into the session, and nothing else of the tenant's. Errors: `upload.not-found`. */
async function assertOfSession(
  files: NonNullable<Intake['files']>,
  { tenant, session }: Pick<TaskBody, 'tenant' | 'session'>,
  uploads: readonly string[],
): Promise<void> {
  for (const upload of uploads) {
    const found = await files.find(tenant, upload);
    if (found?.session === undefined || found.session !== session) throw uploadNotFound(upload);
  }
}
