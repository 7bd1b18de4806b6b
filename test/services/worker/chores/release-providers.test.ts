import { describe, expect, it } from 'vitest';
import { HeldFailure } from '#shared/errors/task-failure.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { accountOf } from '#shared/providers/account.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { useParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';

const PER_MINUTE = 600;
const providers = { local: { baseUrl: 'http://model.test/v1', requestsPerMinute: PER_MINUTE } };
const runs = new Map<string, number>();
const calls: { tenant: string; id: string; at: number }[] = [];

/** An agent that makes one call of a model, as the gateway of model calls does. */
async function run(task: { id: string; tenant: string; input: string }): Promise<string> {
  const token = (runs.get(task.id) ?? 0) + 1;
  runs.set(task.id, token);
  const account = accountOf(providers, { baseUrl: providers.local.baseUrl, apiKey: 'key', isOperators: true });
  const call = { account, model: task.input, place: { tenant: task.tenant, id: task.id, token }, weight: 1, tokens: 10, isFirst: true };
  const admission = await parts.throttle.admitCall({ ...call, band: 'normal' }, new AbortController().signal);
  if (admission.kind === 'wait') {
    const { hold, holdMs } = admission;
    throw new HeldFailure('PROVIDER_QUOTA', `the provider: ${admission.because}`, { hold, retryAfterMs: holdMs });
  }
  calls.push({ tenant: task.tenant, id: task.id, at: admission.permit.at });
  const status = task.input === 'walled' && calls.length === 1 ? 402 : 200;
  const refusal = await parts.throttle.reportCall(admission.permit, { status, tokens: 10 });
  if (refusal) throw new HeldFailure('PROVIDER_QUOTA', 'the provider refused', { hold: refusal.hold, retryAfterMs: refusal.holdMs });
  return 'answered';
}

const parts = await useParts({
  agents: { caller: { kind: 'function', run } },
  providers,
  throttle: { maxInSlotWaitMs: 100, pumpMs: 50, horizonMs: 500, burst: 0.01, probeMs: 400 },
  queues: { tasks: { slots: 20 } },
});
await useWorker(parts);

const submit = async (tenant: string, model: string): Promise<string> =>
  (await acceptTask(parts, { tenant, agent: 'caller', input: model })).id;
const ended = async (tenant: string, id: string): Promise<boolean> =>
  (await readTask(parts.ledger, tenant, id))?.state.status === 'completed';

describe('tasks whose provider allows fewer calls than there are', () => {
  it('give their slots back, spend no attempt, and go on at the allowed rate, in their order and in turns of tenants', async () => {
    const first = await Promise.all(Array.from({ length: 20 }, () => submit('acme', 'fast')));
    const second = await Promise.all(Array.from({ length: 5 }, () => submit('globex', 'fast')));
    const tasks = [...first.map((id) => ({ tenant: 'acme', id })), ...second.map((id) => ({ tenant: 'globex', id }))];
    const held = await waitFor(
      async () => {
        const explained = await Promise.all(first.map(async (id) => await explain('acme', id)));
        return explained.find((reasons) => reasons[0]?.gate === 'provider');
      },
      { deadlineMs: 20_000, what: 'a task that waits for the provider' },
    );
    expect(held[0]?.detail).toMatch(/^calls of fast at local take turns: \d+ of 600 calls of the last minute are used$/);
    // Its turn, and not the bound of the hold.
    expect(held[0]?.until ?? Infinity).toBeLessThan(Date.now() + 60_000);
    const isEnded = async (): Promise<boolean> =>
      (await Promise.all(tasks.map(({ tenant, id }) => ended(tenant, id)))).every((each) => each);
    await waitFor(isEnded, { deadlineMs: 30_000, what: 'all tasks to be answered' });
    const records = await Promise.all(tasks.map(({ tenant, id }) => readTask(parts.ledger, tenant, id)));
    expect(records.map((record) => record?.state.attempt)).toEqual(tasks.map(() => 1));
    const times = calls.map(({ at }) => at).toSorted((a, b) => a - b);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual((tasks.length - 8) * (60_000 / PER_MINUTE));
    // Five of the other tenant do not wait for twenty.
    expect(calls.findLastIndex(({ tenant }) => tenant === 'globex')).toBeLessThan(calls.length - 5);
    expect(await parts.redis.keys('*throttle-reserved*')).toEqual([]);
  });

  it('wait behind a wall until one of them has tried', async () => {
    calls.length = 0;
    const tasks: string[] = [];
    for (let count = 0; count < 6; count += 1) tasks.push(await submit('acme', 'walled'));
    const isWalled = async (): Promise<boolean> => {
      const explained = await Promise.all(tasks.map(async (id) => await explain('acme', id)));
      return explained.flat().some(({ detail }) => detail.startsWith('the account local takes no calls (status 402)'));
    };
    await waitFor(isWalled, { deadlineMs: 20_000, what: 'a task that waits behind the wall' });
    const isEnded = async (): Promise<boolean> => (await Promise.all(tasks.map((id) => ended('acme', id)))).every((each) => each);
    await waitFor(isEnded, { deadlineMs: 30_000, what: 'all tasks to be answered' });
    expect(await parts.redis.zcard(parts.keys.fleet.throttleWaits)).toBe(0);
  });
});

async function explain(tenant: string, id: string): Promise<Awaited<ReturnType<typeof explainWait>>['reasons']> {
  const task = await readTask(parts.ledger, tenant, id);
  return task === null ? [] : (await explainWait(parts, task)).reasons;
}
