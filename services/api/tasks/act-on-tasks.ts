import { z } from 'zod';
import { type Action, type ActionRequest, ActionStore, cancelAction, countTasks, createAction } from '#shared/actions/index.ts';
import type { Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { type Call, pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { idempotencyKeySchema } from '#shared/queue/index.ts';
import { type Keys, type RedisClient, unreadableOf } from '#shared/redis/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { hasScope } from '#shared/tenants/index.ts';
import { cursorSchema } from '../lists.ts';
import { actionBodySchema, actionListSchema, actionSchema, knownOrCountedSchema, viewAction } from './action-view.ts';

export interface BulkActionPorts {
  readonly ledger: Ledger;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
}

/** `/v1/tasks/actions`: a retry, a cancellation or a removal of all tasks of a filter, in the background. */
export function bulkActionRoutes(ports: BulkActionPorts): Route[] {
  return [postAction(ports), getActions(ports), getAction(ports), postActionCancel(ports)];
}

/** `POST /v1/tasks/actions`: 202 with the action, which a worker begins soon. */
function postAction({ ledger }: BulkActionPorts): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/actions',
    operationId: 'createAction',
    summary: 'Retry, cancel or discard many tasks',
    description:
      'Applies to each task what the endpoint of one task does, as a background job: tasks that fit now, the oldest first, and to cancel the newest first. `discard` needs the scope `operate`. With an `Idempotency-Key` the request can be repeated. More than `actions.maxActive` under way: 429 `limit.actions`.',
    scope: 'submit',
    errors: ['task.idempotency-conflict', 'limit.actions'],
    request: {
      headers: z.object({
        'idempotency-key': idempotencyKeySchema.meta({ description: 'The same key with the same request makes one action.' }).optional(),
      }),
      body: actionBodySchema,
    },
    responses: { 200: knownOrCountedSchema, 202: actionSchema.meta({ description: 'Accepted: a worker begins soon.' }) },
    handle: async ({ headers, body }, call) => {
      const { action, reason = null, dryRun } = body;
      assertScopeOf(action, call);
      const { tenant, key } = call;
      const request: ActionRequest = {
        tenant,
        action,
        filter: selectionOf(body),
        reason,
        by: key?.id ?? null,
        idempotencyKey: headers['idempotency-key'],
      };
      if (dryRun === true) {
        const { matched, isExact } = await countTasks(ledger, request);
        return { status: 200, body: { action, matched, exact: isExact } };
      }
      const created = await createAction(ledger, request);
      if (created.isNew) {
        const fields = { event: 'action.created', action: created.action.id, kind: action, tenant, by: key?.id };
        call.log.info(fields, 'an action on many tasks was requested');
      }
      const location = `/v1/tasks/actions/${created.action.id}`;
      return { status: created.isNew ? 202 : 200, body: viewAction(created.action), headers: { Location: location } };
    },
  });
}

/** As for one task. Errors: `auth.forbidden`. */
function assertScopeOf(action: Action['action'], { key }: Call): void {
  if (action !== 'discard' || (key !== null && hasScope(key.scopes, 'operate'))) return;
  throw new MusterError('auth.forbidden', 'The action "discard" needs a key with the scope "operate"');
}

function selectionOf(body: z.infer<typeof actionBodySchema>): ActionRequest['filter'] {
  const { status, since, until, ...rest } = 'filter' in body ? body.filter : {};
  const filter: ActionRequest['filter'] = { statuses: status };
  if (body.ids !== undefined) filter.ids = [...new Set(body.ids)];
  if (since !== undefined) filter.since = Date.parse(since);
  if (until !== undefined) filter.until = Date.parse(until);
  return Object.assign(filter, rest);
}

/** `GET /v1/tasks/actions`, newest first. */
function getActions(ports: BulkActionPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/actions',
    operationId: 'listActions',
    summary: 'List actions on many tasks, newest first',
    scope: 'read',
    request: { query: z.strictObject({ limit: pageLimitSchema, cursor: cursorSchema(TASK_ID) }) },
    responses: { 200: actionListSchema },
    handle: async ({ query: { limit, cursor } }, { tenant }) => {
      const { items, unreadable } = await storeOf(ports).list(tenant);
      const rest = items.filter(({ id }) => cursor === undefined || id < cursor);
      const page = rest.slice(0, limit);
      const nextCursor = rest.length > limit ? (page.at(-1)?.id ?? null) : null;
      return { status: 200, body: { items: page.map(viewAction), nextCursor, ...unreadableOf(unreadable) } };
    },
  });
}

const pathSchema = z.object({ id: z.string().meta({ description: "The action's id." }) });

/** `GET /v1/tasks/actions/:id`. */
function getAction(ports: BulkActionPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/actions/:id',
    operationId: 'getAction',
    summary: 'Read an action on many tasks and its progress',
    scope: 'read',
    errors: ['action.not-found'],
    request: { params: pathSchema },
    responses: { 200: actionSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const stored = await storeOf(ports).find(tenant, id);
      if (!stored) throw actionNotFound(id);
      return { status: 200, body: viewAction(stored.action) };
    },
  });
}

/** `POST /v1/tasks/actions/:id/cancel`: 200 with an action that has ended, 202 while a worker ends it. */
function postActionCancel(ports: BulkActionPorts): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/actions/:id/cancel',
    operationId: 'cancelAction',
    summary: 'Apply an action to no further task',
    description: 'Tasks that it was applied to stay as they are.',
    scope: 'submit',
    errors: ['action.not-found', 'action.busy'],
    request: { params: pathSchema },
    responses: { 200: actionSchema, 202: actionSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const action = await cancelAction(storeOf(ports), tenant, id);
      if (!action) throw actionNotFound(id);
      return { status: action.completedAt === null ? 202 : 200, body: viewAction(action) };
    },
  });
}

function storeOf({ redis, keys, config }: BulkActionPorts): ActionStore {
  return new ActionStore({ redis, keys, settings: config.settings });
}

function actionNotFound(id: string): MusterError {
  return new MusterError('action.not-found', 'There is no such action', { details: { id: id.slice(0, 100) } });
}
