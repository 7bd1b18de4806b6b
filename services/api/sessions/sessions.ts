import { z } from 'zod';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { listSessions, notifySession, setMode, stopSession as stop, readTranscript } from '#shared/sessions/index.ts';
import { sessionIdSchema } from '#shared/tasks/index.ts';
import { sessionSummarySchema, viewSummary, sessionPathSchema, sessionViewSchema, showSession } from './session-view.ts';
import { QUEUE_MODES } from '#shared/config/index.ts';
import { readTasks } from '#shared/ledger/index.ts';
import { toIso } from '#shared/time/index.ts';

const querySchema = z.strictObject({
  active: z.stringbool().optional().meta({ description: 'Only those in which something runs or waits.' }),
  limit: pageLimitSchema,
  cursor: sessionIdSchema.optional().meta({ description: '`nextCursor` of the page before.' }),
});

/** `GET /v1/sessions`, by id. */
export function getSessions({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions',
    operationId: 'listSessions',
    summary: 'List the sessions that have tasks, by id',
    description: 'A page may be short while `nextCursor` says that there is more.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: z.strictObject({ items: z.array(sessionSummarySchema), nextCursor: z.string().nullable() }) },
    handle: async ({ query: { limit, cursor, active } }, { tenant }) => {
      const { items, next } = await listSessions(ledger, tenant, { limit, after: cursor, active: active === true });
      return { status: 200, body: { items: items.map((each) => viewSummary(each)), nextCursor: next } };
    },
  });
}

/** `GET /v1/sessions/:id`. */
export function getSession({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id',
    operationId: 'getSession',
    summary: 'A session: whose turn it is, what waits and why, its mode',
    description: 'A session that nobody used yet is answered like a free one.',
    scope: 'read',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: { 200: sessionViewSchema },
    handle: async ({ params }, { tenant }) => ({ status: 200, body: await showSession(ledger, tenant, params.id) }),
  });
}

/** `PUT /v1/sessions/:id/mode`. */
export function putSessionMode({ ledger }: Parts): Route {
  return route({
    method: 'put',
    path: '/v1/sessions/:id/mode',
    operationId: 'setSessionMode',
    summary: 'Choose what becomes of messages that meet a running task',
    description: '`default`, or `reset`, takes the choice back. Holds for the next message, at every process.',
    scope: 'submit',
    // Who may write in a session may choose by `/queue` in a message as well.
    forVisitors: true,
    request: { params: sessionPathSchema, body: z.strictObject({ mode: z.enum([...QUEUE_MODES, 'default', 'reset']) }) },
    responses: { 200: sessionViewSchema },
    handle: async ({ params: { id }, body: { mode } }, { tenant }) => {
      await setMode(ledger, tenant, id, mode === 'default' || mode === 'reset' ? null : mode);
      notifySession(ledger, tenant, id);
      return { status: 200, body: await showSession(ledger, tenant, id) };
    },
  });
}

/** `POST /v1/sessions/:id/stop`. */
export function postSessionStop({ ledger }: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/sessions/:id/stop',
    operationId: 'stopSession',
    summary: 'Withdraw what waits in a session, then stop what runs',
    description: 'What a stopped task delegated stops with it. Messages that come afterwards are not touched.',
    scope: 'submit',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: {
      200: z.strictObject({
        withdrawn: z.int().meta({ description: 'Tasks that had not started.' }),
        stopped: z.int().meta({ description: 'Tasks that run, whose worker was told to stop.' }),
      }),
    },
    handle: async ({ params }, { tenant }) => ({ status: 200, body: await stop(ledger, tenant, params.id, 'the session was stopped') }),
  });
}

const turnSchema = z
  .strictObject({ taskId: z.string(), input: z.string(), output: z.string(), completedAt: z.iso.datetime().nullable() })
  .meta({ id: 'Turn' });

/** `GET /v1/sessions/:id/transcript`. */
export function getTranscript({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id/transcript',
    operationId: 'getTranscript',
    summary: 'What was said in a session, as its agents are given it',
    description: 'Oldest first, bounded by `sessions.transcriptTurns` and `transcriptBytes`, from where `/new` began it last.',
    scope: 'read',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: { 200: z.strictObject({ items: z.array(turnSchema), nextCursor: z.null() }) },
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
      return { status: 200, body: { items, nextCursor: null } };
    },
  });
}
