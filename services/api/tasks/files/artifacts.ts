import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { contentDisposition, type FileStore, type StoredFile, type TaskFile } from '#shared/files/index.ts';
import { type Answer, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { toIso } from '#shared/time/index.ts';
import { answerList, onePageOf } from '../../lists.ts';
import { findState, findTaskRow, taskPathSchema } from '../find-tasks.ts';

interface ArtifactPorts {
  readonly ledger: Ledger;
  readonly files: FileStore;
}

/** Files of one task: what it made, and what it was given. */
export function taskFileRoutes(ports: ArtifactPorts): Route[] {
  return [getArtifacts(ports), getArtifact(ports), getAttachment(ports)];
}

const artifactSchema = z
  .strictObject({
    name: z.string().meta({ description: 'Unique among those of the task.' }),
    mediaType: z.string().meta({ description: 'What its maker said that it is.' }),
    bytes: z.int().meta({ description: 'Its size.' }),
    attempt: z.int().meta({ description: 'The attempt that made it.' }),
    createdAt: z.iso.datetime().meta({ description: 'When it was stored.' }),
  })
  .meta({
    id: 'Artifact',
    examples: [{ name: 'report.pdf', mediaType: 'application/pdf', bytes: 20_480, attempt: 1, createdAt: '2026-05-01T09:00:04.000Z' }],
  });

const artifactListSchema = onePageOf(artifactSchema, 'By name.').meta({ id: 'ArtifactList' });

const namedPathSchema = taskPathSchema.extend({ name: z.string().meta({ description: 'The name of the file.' }) });

/** What `sendFile` answers. */
export const fileSchema = z.string().meta({ format: 'binary', description: 'The bytes of the file.' });

/** `GET /v1/tasks/:id/artifacts`, by name. */
function getArtifacts({ ledger, files }: ArtifactPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/artifacts',
    operationId: 'listArtifacts',
    summary: 'The files that a task made',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema },
    responses: { 200: artifactListSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      await findState(ledger, tenant, id);
      const artifacts = await files.list(tenant, id, 'out');
      return answerList([...artifacts].map(([name, file]) => viewArtifact(name, file)));
    },
  });
}

function viewArtifact(name: string, { mediaType, bytes, attempt, at }: TaskFile): z.infer<typeof artifactSchema> {
  return { name, mediaType, bytes, attempt, createdAt: toIso(at) ?? '' };
}

/** `GET /v1/tasks/:id/artifacts/:name`: the file, which a browser saves and never shows. */
function getArtifact({ ledger, files }: ArtifactPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/artifacts/:name',
    operationId: 'downloadArtifact',
    summary: 'Download a file that a task made',
    scope: 'read',
    errors: ['task.not-found', 'artifact.not-found', 'unavailable.files'],
    media: '*/*',
    request: { params: namedPathSchema },
    responses: { 200: fileSchema },
    handle: async ({ params: { id, name } }, { tenant }) => {
      await findState(ledger, tenant, id);
      return await sendFile(files, tenant, (await files.list(tenant, id, 'out')).get(name));
    },
  });
}

/** `GET /v1/tasks/:id/attachments/:name`: a file that the task was given, also one that was fetched for it. */
function getAttachment({ ledger, files }: ArtifactPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/attachments/:name',
    operationId: 'downloadAttachment',
    summary: 'Download a file that a task was given',
    description: 'A file that is fetched from an address is there once the first attempt has begun.',
    scope: 'read',
    errors: ['task.not-found', 'artifact.not-found', 'unavailable.files'],
    media: '*/*',
    request: { params: namedPathSchema },
    responses: { 200: fileSchema },
    handle: async ({ params: { id, name } }, { tenant }) => {
      const { body } = await findTaskRow(ledger, tenant, id);
      const attachments = body.attachments ?? [];
      const place = attachments.findIndex((each) => each.name === name);
      const own = attachments[place]?.file ?? null;
      const file = own === null ? (await files.list(tenant, id, 'in')).get(String(place)) : await files.find(tenant, own);
      return await sendFile(files, tenant, file && { ...file, name });
    },
  });
}

/** Errors: `artifact.not-found`. */
export async function sendFile(files: FileStore, tenant: string, file: StoredFile | null | undefined): Promise<Answer> {
  const stream = file && (await files.open({ tenant, file: file.file }));
  if (!file || !stream) throw new MusterError('artifact.not-found', 'The task has no such file');
  return {
    status: 200,
    stream,
    headers: {
      'Content-Type': file.mediaType,
      'Content-Length': String(file.bytes),
      'Content-Disposition': contentDisposition(file.name),
      // Should a browser show it all the same, nothing in it runs or loads.
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'X-Content-Type-Options': 'nosniff',
    },
  };
}
