import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { listDaemons } from '#shared/daemons/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { type EventFeed, watchTask } from '#shared/events/index.ts';
import { countSchema, type Call, route, type Route } from '#shared/http/index.ts';
import { type Ledger, readState, readTask } from '#shared/ledger/index.ts';
import { type Accepted, acceptTask, type Intake } from '#shared/queue/index.ts';
import { hasScope } from '#shared/tenants/index.ts';
import { isTerminal, type Task, taskRecord, type TaskRequest, taskRequestSchema, type TaskStatus } from '#shared/tasks/index.ts';
import { acceptedViewSchema, taskViewSchema } from './task-view.ts';

export interface SubmitPorts extends Intake {
  readonly config: { readonly settings: Settings };
  readonly events: EventFeed;
}

const taskBodySchema = taskRequestSchema.meta({
  id: 'TaskRequest',
  examples: [{ agent: 'echo', input: 'Summarize yesterday', session: 'team', priority: 5 }],
});

/** Immediate answers to a submitted task. */
const submittedSchema = z
  .union([taskViewSchema, acceptedViewSchema])
  .meta({ id: 'TaskOrAccepted', description: 'It ended within `waitMs`, or the key came before.' });

/**
 * `POST /v1/tasks`. Answers 202, or 200 with the same task for a known key. With `waitMs` it answers 200 and the record when the task ended
 * in time, else the status that it has by then.
 */
export function postTask(ports: SubmitPorts): Route {
  const { maxWaitMs } = ports.config.settings.http;
  return route({
    method: 'post',
    path: '/v1/tasks',
    operationId: 'submitTask',
    summary: 'Submit a task',
    description:
      'With an `Idempotency-Key` the request can be repeated without making a second task. A task with a `session` waits its turn; with a `mode` it meets the running task of its session like a message in that mode.',
    scope: 'submit',
    audit: 'work',
    request: {
      headers: idempotencyHeadersSchema,
      query: z.strictObject({
        waitMs: countSchema(0, maxWaitMs)
          .optional()
          .meta({ description: 'Wait so long for the end of the task. Without an end, `status` is that after the wait.' }),
      }),
      body: taskBodySchema,
    },
    responses: { 200: submittedSchema, 202: acceptedViewSchema.meta({ description: 'Accepted: it will reach its end.' }) },
    handle: async ({ headers, query, body }, call) => {
      assertCallersSource(body);
      await assertTargetIsLeft(ports, call.tenant, body);
      const accepted = await acceptTask(ports, {
        ...body,
        tenant: call.tenant,
        traceparent: call.traceparent,
        ...keyOf(call),
        ...(query.waitMs ? { isAwaited: true } : {}),
        ...idempotencyOf(headers['idempotency-key']),
      });
      const last = query.waitMs ? await waitForEnd(ports, call, { id: accepted.id, waitMs: query.waitMs }) : null;
      if (last?.ended) return { status: 200, body: taskRecord(last.ended) };
      const view = viewAccepted(accepted, last?.status);
      return { status: accepted.isDuplicate ? 200 : 202, body: view, headers: { Location: `/v1/tasks/${accepted.id}` } };
    },
  });
}

/** The API key that a call came with; of a visitor none. */
export function keyOf({ key }: Pick<Call, 'key'>): { keyId?: string } {
  return key === null || key.session !== undefined ? {} : { keyId: key.id };
}

/** Whoever may register daemons may speak for their users; of all others the user of a message is only their word. */
export function claimOf({ key }: Pick<Call, 'key'>): { isUserClaimed?: true } {
  return key !== null && key.session === undefined && hasScope(key.scopes, 'operate') ? {} : { isUserClaimed: true };
}

/** The sources that a caller may name. Muster itself gives the others: a message, a webhook or a schedule came to it. */
const CALLERS_SOURCES = ['api', 'proactive', 'delegation'] as const;

/** Limits, queues and retries depend on the source, so no caller claims another's. Errors: `task.source-reserved`, `request.invalid`. */
export function assertCallersSource({ source, sourceId, parentTaskId }: TaskRequest): void {
  if (source !== undefined && !CALLERS_SOURCES.some((each) => each === source)) {
    throw new MusterError('task.source-reserved', `source: expected ${CALLERS_SOURCES.join(', ')}; "${source}" is given by Muster itself`, {
      details: { source, allowed: CALLERS_SOURCES },
    });
  }
  if (source === 'delegation' && parentTaskId === undefined)
    throw new MusterError('request.invalid', 'parentTaskId: expected the task that delegates, with source "delegation"');
  if (sourceId !== undefined && source !== 'proactive')
    throw new MusterError('request.invalid', 'sourceId: expected with source "proactive" only, as the trigger that asked');
}

/** A target and an exclusion may name the same daemon, one by its name and one by its id. Errors: `request.invalid`. */
export async function assertTargetIsLeft(
  ports: Pick<Intake, 'ledger'>,
  tenant: string,
  { requirements: { targetDaemon: target, excludedDaemons: excluded = [] } = {} }: TaskRequest,
): Promise<void> {
  if (target === undefined || excluded.length === 0) return;
  const daemons = await listDaemons(ports.ledger, tenant);
  const named = daemons.find(({ id, name }) => id === target || name === target);
  if (named === undefined || !excluded.some((each) => each === named.id || each === named.name)) return;
  throw new MusterError(
    'request.invalid',
    `requirements: the target "${target}" is one of excludedDaemons, so that no daemon could run it`,
    { details: { targetDaemon: target, daemon: named.id } },
  );
}

/** Longest between two reads, for when a hint was lost. */
const POLL_MS = 2000;

interface WaitPorts {
  readonly ledger: Ledger;
  readonly events: EventFeed;
}

/** What a wait for a task's end found last. */
interface LastSeen {
  /** The record, once it has ended. */
  ended: Task | null;
  status: TaskStatus | undefined;
}

/** Waits for a task's end, at most `waitMs` and until the caller leaves. Errors: `auth.invalid`. */
async function waitForEnd({ ledger, events }: WaitPorts, call: Call, { id, waitMs }: { id: string; waitMs: number }): Promise<LastSeen> {
  const { tenant, signal } = call;
  const deadline = performance.now() + waitMs;
  const watch = watchTask(events, tenant, id, signal);
  try {
    for (;;) {
      const state = await readState(ledger, tenant, id);
      const status = state?.status;
      if (status && isTerminal(status)) return { ended: await readTask(ledger, tenant, id), status };
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || signal.aborted) return { ended: null, status };
      await watch.next(Math.min(POLL_MS, leftMs));
      // After each wait, so that no answer goes to a key that was revoked in it.
      if (!(await call.isStillAdmitted())) throw new MusterError('auth.invalid', 'The key was revoked while its request waited');
    }
  } finally {
    watch.stop();
  }
}

/** An accepted task as callers see it, with the status that it has by now. */
function viewAccepted(accepted: Accepted, status = accepted.status): z.infer<typeof acceptedViewSchema> {
  const { id, position, estimatedStartMs, pressure } = accepted;
  const hasStarted = status !== accepted.status && status !== null && !WAITING.has(status);
  return { id, status, ...(hasStarted ? { position: 0, estimatedStartMs: 0 } : { position, estimatedStartMs }), pressure };
}

/** Before the first start. */
const WAITING: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['pending', 'queued']);

export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 visible ASCII characters')
  .meta({ description: 'The same key with the same request gives the same task, for a day.' });

export const idempotencyHeadersSchema = z.object({ 'idempotency-key': idempotencyKeySchema.optional() });

/**
 * The ledger's key for a caller's. Its prefix keeps it apart from the keys of webhooks and schedules, which no caller may take. A visitor
 * takes no key of the tenant, nor of another session than the one that is visited: visitors do not know each other, and choose the same keys.
 */
export function idempotencyOf(key: string | undefined, visited?: string): { idempotencyKey?: string } {
  if (key === undefined) return {};
  // The length says where the session's id ends: both it and a key may have colons.
  return { idempotencyKey: visited === undefined ? `api:${key}` : `visit:${visited.length}:${visited}:${key}` };
}
