import { describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import type { AttemptRef } from '#shared/ledger/claim/leases.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { offerInput } from '#shared/queue/accept/offer-input.ts';
import type { Task } from '#shared/tasks/task.ts';
import { helpsAt } from '#shared/queue/gates/gate-kinds.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'acme';
const DONE = { kind: 'completed', output: '', result: null, usage: null } as const;

const limits = { tenants: { [TENANT]: { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} } } };
const agents = { echo: { kind: 'echo' }, web: { kind: 'http', url: 'http://127.0.0.1:1/' } } as const;
const parts = await useEmptyParts({ limits, agents });

const started = async (request: Partial<AcceptRequest> = {}): Promise<AttemptRef> => {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'first', ...request });
  const place = { tenant: TENANT, id, lane: request.session === undefined ? null : `session:${request.session}` };
  const claim = await claimTask(parts.ledger, place, 'w1');
  if (claim.kind !== 'claimed') throw new Error(`The task was not claimed: ${claim.kind}`);
  return { ...place, token: claim.state.token };
};
const offer = async (task: string, more: object = {}): ReturnType<typeof offerInput> =>
  await offerInput(parts, { tenant: TENANT, task, input: 'more', ...more });
const read = async (id: string): Promise<Task> => (await readTask(parts.ledger, TENANT, id)) as Task;

describe('input for a running task', () => {
  it('is a task of its own, as its user would have written it, and is taken by it', async () => {
    const attempt = await started({ session: 's', source: 'chat', user: 'ann', channel: 'web', priority: 7 });
    const { id, status, outcome } = await offer(attempt.id);
    expect([status, outcome]).toEqual(['pending', null]);
    const task = await read(id);
    expect(task.body).toMatchObject({ agent: 'echo', input: 'more', session: 's', source: 'chat', user: 'ann', channel: 'web' });
    expect(task.state).toMatchObject({ gate: 'steer', steer: attempt.id, priority: 7 });
    expect(await takeInput(parts.ledger, attempt, 'steered', 5)).toMatchObject({ inputs: [{ id, text: 'more', user: 'ann' }] });
  });

  it('is the next turn when it is not taken, also of a task that had no lane', async () => {
    const attempt = await started();
    const { id } = await offer(attempt.id);
    await settleAttempt(parts.ledger, attempt, DONE);
    const { state } = await read(id);
    expect(state).toMatchObject({ status: 'queued', lane: `task:${attempt.id}` });
  });

  it('is the same under the same key, also when the task ended meanwhile', async () => {
    const attempt = await started();
    const { id } = await offer(attempt.id, { idempotencyKey: 'k' });
    await settleAttempt(parts.ledger, attempt, DONE);
    expect(await offer(attempt.id, { idempotencyKey: 'k' })).toMatchObject({ id, isDuplicate: true });
  });

  it('is refused for a task that is not there, or another tenant’s', async () => {
    const attempt = await started();
    await expect(offer('01ARZ3NDEKTSV4RRFFQ69G5FAV')).rejects.toMatchObject({ code: 'task.not-found' });
    await expect(offerInput(parts, { tenant: 'other', task: attempt.id, input: 'x' })).rejects.toMatchObject({ code: 'task.not-found' });
  });

  it('is refused for a task that does not run, or is stopping', async () => {
    const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x' });
    await expect(offer(id)).rejects.toMatchObject({
      code: 'task.not-running',
      message: `The task ${id} does not run; it waits: no worker serves the queue "tasks"`,
      details: { status: 'queued', gate: 'worker', helps: helpsAt(parts.ledger, 'worker') },
    });
    const attempt = await started();
    await cancelTask(parts.ledger, attempt, 'no');
    await expect(offer(attempt.id)).rejects.toMatchObject({ code: 'task.not-running' });
  });

  it('is refused for a task whose agent takes none', async () => {
    const web = await started({ agent: 'web' });
    await expect(offer(web.id)).rejects.toMatchObject({ code: 'task.takes-no-input' });
    const closed = await started({ context: { noInput: true } });
    await expect(offer(closed.id)).rejects.toMatchObject({ code: 'task.takes-no-input' });
  });

  it('is refused when there is more of it than allowed', async () => {
    const attempt = await started();
    await expect(offer(attempt.id, { input: 'x'.repeat(300_000) })).rejects.toMatchObject({ code: 'request.too-large' });
  });
});
