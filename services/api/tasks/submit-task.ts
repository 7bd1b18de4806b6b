import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { assertTargetIsLeft } from '#shared/daemons/index.ts';
import { type ErrorCode, LIMIT_ERRORS, MusterError } from '#shared/errors/index.ts';
import { type EventFeed, watchTask } from '#shared/events/index.ts';
import { countSchema, type Call, route, type Route } from '#shared/http/index.ts';
import { type Ledger, readState, readTask } from '#shared/ledger/index.ts';
import { type Accepted, acceptTask, assertCallersSource, idempotencyKeySchema, idempotencyOf, type Intake } from '#shared/queue/index.ts';
import { hasScope } from '#shared/tenants/index.ts';
import { isTerminal, taskRecord, taskRequestSchema, type TaskState, type TaskStatus } from '#shared/tasks/index.ts';
import { acceptedViewSchema, taskViewSchema } from './task-view.ts';

export interface SubmitPorts extends Intake {
  readonly config: { readonly settings: Settings };
  readonly events: EventFeed;
}

/** What a request that makes a task, alone or as a message of a session, may be refused with. */
export const SUBMIT_ERRORS = [
  'agent.unknown',
  'task.not-found',
  'task.wrong-state',
  'task.takes-no-input',
  'task.idempotency-conflict',
  'task.runaway',
  'upload.not-found',
  ...LIMIT_ERRORS,
  'unavailable.files',
  'unavailable.fsync',
] as const satisfies readonly ErrorCode[];

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
    errors: [...SUBMIT_ERRORS, 'task.source-reserved'],
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
      await assertTargetIsLeft(ports.ledger, call.tenant, body);
      const accepted = await acceptTask(ports, {
        ...body,
        tenant: call.tenant,
        traceparent: call.traceparent,
        ...keyOf(call),
        ...(query.waitMs ? { isAwaited: true } : {}),
        ...idempotencyOf(headers['idempotency-key']),
      });
      const last = query.waitMs ? await waitForTask(ports, call, { id: accepted.id, waitMs: query.waitMs, until: hasEnded }) : null;
      const ended = last && hasEnded(last) ? await readTask(ports.ledger, call.tenant, accepted.id) : null;
      if (ended) return { status: 200, body: taskRecord(ended) };
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

/** Longest between two reads, for when a hint was lost. */
const POLL_MS = 2000;

interface WaitPorts {
  readonly ledger: Ledger;
  readonly events: EventFeed;
}

interface AwaitedTask {
  id: string;
  waitMs: number;
  /** What is waited for. */
  until: (state: TaskState) => boolean;
}

/**
 * Waits for a task, at most `waitMs` and until the caller leaves. Resolves to its state then, whatever it waited for; null for no task.
 * Errors: `auth.invalid`.
 */
export async function waitForTask(
  { ledger, events }: WaitPorts,
  call: Call,
  { id, waitMs, until }: AwaitedTask,
): Promise<TaskState | null> {
  const { tenant, signal } = call;
  const deadline = performance.now() + waitMs;
  const watch = watchTask(events, tenant, id, signal);
  try {
    for (;;) {
      const state = await readState(ledger, tenant, id);
      const leftMs = deadline - performance.now();
      if (state === null || until(state) || leftMs <= 0 || signal.aborted) return state;
      await watch.next(Math.min(POLL_MS, leftMs));
      // After each wait, so that no answer goes to a key that was revoked in it.
      if (!(await call.isStillAdmitted())) throw new MusterError('auth.invalid', 'The key was revoked while its request waited');
    }
  } finally {
    watch.stop();
  }
}

function hasEnded({ status }: TaskState): boolean {
  return isTerminal(status);
}

/** An accepted task as callers see it, with the status that it has by now. */
function viewAccepted(accepted: Accepted, status = accepted.status): z.infer<typeof acceptedViewSchema> {
  const { id, position, estimatedStartMs, pressure } = accepted;
  const hasStarted = status !== accepted.status && status !== null && !WAITING.has(status);
  return { id, status, ...(hasStarted ? { position: 0, estimatedStartMs: 0 } : { position, estimatedStartMs }), pressure };
}

/** Before the first start. */
const WAITING: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['pending', 'queued']);

export const idempotencyHeadersSchema = z.object({ 'idempotency-key': idempotencyKeySchema.optional() });
