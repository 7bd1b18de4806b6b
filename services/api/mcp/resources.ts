import { ProtocolError, ProtocolErrorCode, type ReadResourceResult, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { hasCode } from '#shared/errors/index.ts';
import { ellipsize, plainLine } from '#shared/text/index.ts';
import type { McpRequest } from './mcp-request.ts';

const TASKS = 'muster://tasks/';
const SESSIONS = 'muster://sessions/';
const MIME = 'application/json';
const MAX_TITLE = 120;
/** Of each sort. */
const LISTED = '50';

interface Resource {
  uri: string;
  name: string;
  title: string;
  mimeType: string;
}

export const RESOURCE_TEMPLATES = [
  { uriTemplate: `${TASKS}{id}`, name: 'task', title: 'A task', description: 'Its record, as get_task answers it.', mimeType: MIME },
  {
    uriTemplate: `${SESSIONS}{id}`,
    name: 'session',
    title: 'A session',
    description: 'What runs and waits in it, and its turns.',
    mimeType: MIME,
  },
];

const sessionsSchema = z.object({ items: z.array(z.object({ id: z.string() })) });
const tasksSchema = z.object({ items: z.array(z.object({ id: z.string(), agent: z.string(), status: z.string(), input: z.string() })) });

/** `resources/list`: the newest sessions and tasks. Clients read all pages of a list, so it has one; any other is found by the templates. */
export async function listResources(request: McpRequest): Promise<{ resources: Resource[] }> {
  const [sessions, tasks] = await Promise.all([
    request.forward('listSessions', { query: { limit: LISTED, sort: 'activity' } }),
    request.forward('listTasks', { query: { limit: LISTED } }),
  ]);
  return {
    resources: [
      ...sessionsSchema.parse(sessions.body).items.map(sessionResource),
      ...tasksSchema.parse(tasks.body).items.map(taskResource),
    ],
  };
}

function sessionResource({ id }: { id: string }): Resource {
  return { uri: `${SESSIONS}${encodeURIComponent(id)}`, name: `session ${plainLine(id)}`, title: plainLine(id), mimeType: MIME };
}

function taskResource({ id, agent, status, input }: { id: string; agent: string; status: string; input: string }): Resource {
  const title = ellipsize(`${agent}, ${status}: ${plainLine(input)}`, MAX_TITLE);
  return { uri: `${TASKS}${id}`, name: `task ${id}`, title, mimeType: MIME };
}

/** `resources/read`. What is not there, or another tenant's, is no resource. */
export async function readResource(request: McpRequest, uri: string): Promise<ReadResourceResult> {
  try {
    const found = await findResource(request, uri);
    return { contents: [{ uri, mimeType: MIME, text: JSON.stringify(found) }] };
  } catch (error) {
    if (hasCode(error, 'task.not-found') || hasCode(error, 'request.invalid')) throw new ResourceNotFoundError(uri.slice(0, 500));
    throw error;
  }
}

async function findResource(request: McpRequest, uri: string): Promise<unknown> {
  if (uri.startsWith(TASKS)) return (await request.forward('getTask', { params: { id: nameIn(uri, TASKS) } })).body;
  if (!uri.startsWith(SESSIONS)) throw new ResourceNotFoundError(uri.slice(0, 500));
  const params = { id: nameIn(uri, SESSIONS) };
  const [session, transcript] = await Promise.all([
    request.forward('getSession', { params }),
    request.forward('getTranscript', { params }),
  ]);
  return { session: session.body, turns: z.object({ items: z.unknown() }).parse(transcript.body).items };
}

function nameIn(uri: string, prefix: string): string {
  try {
    return decodeURIComponent(uri.slice(prefix.length));
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The uri is not encoded as one');
  }
}
