import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { fileNameSchema, type FileStore, mediaTypeOf } from '#shared/files/index.ts';
import { type Call, route, type Route } from '#shared/http/index.ts';
import { sendFile } from '../../tasks/files/artifacts.ts';
import { FORM_BYTES, isForm, withFormFile } from '../../tasks/files/read-form.ts';
import { listQuerySchema, pageOf } from '../lists.ts';
import { wrong } from '../requests/read-content.ts';
import type { SentFile, SentFiles } from './sent-files.ts';

export interface FileRoutePorts {
  readonly files: FileStore;
  readonly sentFiles: SentFiles;
  readonly config: { readonly settings: Settings };
}

const path = '/openai/v1/files';
const params = z.object({ file: z.string() });
const noQuery = z.looseObject({});
const answers = { 200: z.unknown() };

/** `/openai/v1/files`: uploads that are kept as long as tasks are. */
export function fileRoutes(ports: FileRoutePorts): Route[] {
  return [postFile(ports), listFiles(ports), getFile(ports), getContent(ports), deleteFile(ports)];
}

function postFile(ports: FileRoutePorts): Route {
  return route({
    method: 'post',
    path,
    operationId: 'createFile',
    summary: 'Keep a file',
    scope: 'submit',
    audit: 'work',
    takesFile: true,
    request: { query: noQuery },
    responses: answers,
    handle: async (_input, call) => ({ status: 200, body: view(await keepSent(ports, call)) }),
  });
}

/** Those of OpenAI's uploads; what a file is for changes nothing here but for `batch`. */
const PURPOSES = ['assistants', 'batch', 'evals', 'fine-tune', 'user_data', 'vision'] as const;
const purposeSchema = z.enum(PURPOSES);

async function keepSent({ files, sentFiles, config }: FileRoutePorts, call: Call): Promise<SentFile> {
  const contentType = call.headers['content-type'];
  if (contentType === undefined || !isForm(contentType))
    throw new MusterError('request.unsupported-media-type', 'Content-Type: expected multipart/form-data with "file" and "purpose"');
  const { maxFileBytes: maxBytes } = files.settings;
  const fields = new Map<string, string>();
  return await withFormFile(call.readFile(maxBytes + FORM_BYTES), { contentType, maxBytes, fields }, async ({ content, ...sent }) => {
    const name = fileNameSchema.catch('file').parse(sent.name);
    return await sentFiles.add(call.tenant, {
      name,
      mediaType: mediaTypeOf(name, sent.mediaType),
      content,
      purpose: () => purposeIn(fields),
      keepMs: config.settings.tasks.retentionMs,
      maxBytes,
    });
  });
}

/** Errors: `request.invalid`. */
function purposeIn(fields: ReadonlyMap<string, string>): string {
  const purpose = purposeSchema.safeParse(fields.get('purpose'));
  if (!purpose.success) throw wrong('purpose', `expected what the file is for: ${PURPOSES.join(', ')}`);
  return purpose.data;
}

function listFiles({ sentFiles }: FileRoutePorts): Route {
  return route({
    method: 'get',
    path,
    operationId: 'listFiles',
    summary: 'The files that are kept',
    scope: 'read',
    request: { query: listQuerySchema.extend({ purpose: z.string().optional() }) },
    responses: answers,
    handle: async ({ query: { purpose, ...query } }, { tenant }) => ({
      status: 200,
      body: pageOf((await sentFiles.list(tenant, purpose)).map(view), query),
    }),
  });
}

function getFile({ sentFiles }: FileRoutePorts): Route {
  return route({
    method: 'get',
    path: `${path}/:file`,
    operationId: 'getFile',
    summary: 'Read what a file is',
    scope: 'read',
    request: { params, query: noQuery },
    responses: answers,
    handle: async (input, { tenant }) => ({ status: 200, body: view(await sentFiles.find(tenant, input.params.file)) }),
  });
}

function getContent({ files, sentFiles }: FileRoutePorts): Route {
  return route({
    method: 'get',
    path: `${path}/:file/content`,
    operationId: 'downloadFile',
    summary: 'Download a file',
    scope: 'read',
    request: { params, query: noQuery },
    responses: answers,
    handle: async (input, { tenant }) => await sendFile(files, tenant, (await sentFiles.find(tenant, input.params.file)).stored),
  });
}

function deleteFile({ sentFiles }: FileRoutePorts): Route {
  return route({
    method: 'delete',
    path: `${path}/:file`,
    operationId: 'deleteFile',
    summary: 'Remove a file; tasks that have it keep it',
    scope: 'submit',
    request: { params, query: noQuery },
    responses: answers,
    handle: async ({ params: { file: id } }, { tenant }) => {
      await sentFiles.remove(tenant, id);
      return { status: 200, body: { id, object: 'file', deleted: true } };
    },
  });
}

function view({ id, stored, purpose, createdAt, expiresAt }: SentFile): { id: string } & Record<string, unknown> {
  return {
    id,
    object: 'file',
    bytes: stored.bytes,
    created_at: Math.floor(createdAt / 1000),
    expires_at: Math.floor(expiresAt / 1000),
    filename: stored.name,
    purpose,
    status: 'processed',
    status_details: null,
  };
}
