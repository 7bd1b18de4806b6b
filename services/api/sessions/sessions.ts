import { z } from 'zod';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { listSessions, notifySession, setMode, stopSession, readTranscript, readSession, countTurns } from '#shared/sessions/index.ts';
import { sessionIdSchema } from '#shared/tasks/index.ts';
import { QUEUE_MODES } from '#shared/config/index.ts';
import type { FileStore } from '#shared/files/index.ts';
import { readTasks, type Ledger } from '#shared/ledger/index.ts';
import { toIso } from '#shared/time/index.ts';
import { answerList, nextCursorSchema, onePageOf } from '../lists.ts';
import { readWorkspaces } from './session-workspaces.ts';
import { viewSummary, sessionSummarySchema, viewSession, sessionViewSchema } from './session-view.ts';

interface SessionPorts {
  readonly ledger: Ledger;
  readonly files: FileStore;
}

/** Who reads a session: a visitor does not see what programs keep. */
interface Reader {
  readonly tenant: string;
  readonly key: { readonly session?: string | undefined } | null;
}

const querySchema = z.strictObject({
  active: z.stringbool().optional().meta({ description: 'Only those in which something runs or waits.' }),
  q: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Only those whose id, or the `user` of whose newest task, holds this text, in any case.' }),
  origin: z.string().max(200).optional().meta({ description: 'Only those with this `origin`, such as `telegram`, `webchat` or `api`.' }),
  sort: z.enum(['id', 'activity']).default('id').meta({ description: '`activity`: the session with the newest task first.' }),
  limit: pageLimitSchema,
  cursor: sessionIdSchema.optional().meta({ description: '`nextCursor` of the page before.' }),
});

/** `GET /v1/sessions`. */
export function getSessions({ ledger }: SessionPorts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions',
    operationId: 'listSessions',
    summary: 'List the sessions that have tasks',
    description: 'A page may be short while `nextCursor` says that there is more.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: z.strictObject({ items: z.array(sessionSummarySchema), nextCursor: nextCursorSchema }).meta({ id: 'SessionList' }) },
    handle: async ({ query: { cursor, active, ...filter } }, { tenant }) => {
      const { items, next } = await listSessions(ledger, tenant, { ...filter, after: cursor, active: active === true });
      return { status: 200, body: { items: items.map((each) => viewSummary(each)), nextCursor: next } };
    },
  });
}

/** `GET /v1/sessions/:id`. */
export function getSession(parts: SessionPorts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id',
    operationId: 'getSession',
    summary: 'Read a session: its current task, what waits and why, its mode',
    description: 'An unused session is answered like a free one.',
    scope: 'read',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: { 200: sessionViewSchema },
    handle: async ({ params }, call) => ({ status: 200, body: await showSession(parts, call, params.id) }),
  });
}

/** `PUT /v1/sessions/:id/mode`. */
export function putSessionMode(parts: SessionPorts): Route {
  const { ledger } = parts;
  return route({
    method: 'put',
    path: '/v1/sessions/:id/mode',
    operationId: 'setSessionMode',
    summary: 'Set the mode of messages that meet a running task',
    description: '`default` or `reset` removes the choice. It applies to the next message, in every process.',
    scope: 'submit',
    // A writer may also set it by `/queue` in a message.
    forVisitors: true,
    request: { params: sessionPathSchema, body: z.strictObject({ mode: z.enum([...QUEUE_MODES, 'default', 'reset']) }) },
    responses: { 200: sessionViewSchema },
    handle: async ({ params: { id }, body: { mode } }, call) => {
      const { tenant } = call;
      await setMode(ledger, tenant, id, mode === 'default' || mode === 'reset' ? null : mode);
      notifySession(ledger, tenant, id);
      return { status: 200, body: await showSession(parts, call, id) };
    },
  });
}

/** `POST /v1/sessions/:id/stop`. */
export function postSessionStop({ ledger }: SessionPorts): Route {
  return route({
    method: 'post',
    path: '/v1/sessions/:id/stop',
    operationId: 'stopSession',
    summary: 'Withdraw what waits in a session, then stop what runs',
    description:
      'Runs of schedules that report into it, and sub-tasks of a stopped task, stop with it. Later messages are not affected, and schedules go on.',
    scope: 'submit',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: {
      200: z
        .strictObject({
          withdrawn: z.int().meta({ description: 'Tasks that had not started.' }),
          stopped: z.int().meta({ description: 'Running tasks whose worker was notified to stop them.' }),
        })
        .meta({ id: 'SessionStopped' }),
    },
    handle: async ({ params }, { tenant }) => {
      const { withdrawn, stopped } = await stopSession(ledger, tenant, params.id, 'the session was stopped');
      return { status: 200, body: { withdrawn, stopped } };
    },
  });
}

const turnSchema = z
  .strictObject({ taskId: z.string(), input: z.string(), output: z.string(), completedAt: z.iso.datetime().nullable() })
  .meta({ id: 'Turn' });

/** `GET /v1/sessions/:id/transcript`. */
export function getTranscript({ ledger }: SessionPorts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id/transcript',
    operationId: 'getTranscript',
    summary: 'The turns of a session, as its agents receive them',
    description: 'Oldest first, since the last `/new`, bounded by `sessions.transcriptTurns` and `transcriptBytes`.',
    scope: 'read',
    errors: ['unavailable.files'],
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: { 200: onePageOf(turnSchema, 'Oldest first.').meta({ id: 'Transcript' }) },
    handle: async ({ params: { id } }, { tenant }) => {
      const turns = await readTranscript(ledger, tenant, id);
      const ids = turns.map(({ taskId }) => taskId);
      const tasks = await readTasks(ledger, tenant, ids);
      const items = turns.map(({ taskId, input, output }, position) => ({
        taskId,
        input,
        output,
        completedAt: toIso(tasks[position]?.state.completedAt),
      }));
      return answerList(items);
    },
  });
}

/** Path of everything about one session. A session is a name that is there from the first use on, so none is unknown. */
export const sessionPathSchema = z.object({ id: sessionIdSchema.meta({ description: "The session's id." }) });

/** A session as it is now. */
async function showSession(
  { ledger, files }: SessionPorts,
  { tenant, key }: Reader,
  id: string,
): Promise<z.infer<typeof sessionViewSchema>> {
  const [record, length, workspaces] = await Promise.all([
    readSession({ ledger }, tenant, id),
    countTurns(ledger, tenant, id),
    key?.session === undefined ? readWorkspaces({ ledger, files }, tenant, id) : [],
  ]);
  return viewSession(record, length, workspaces);
}
