import { describe, expect, it } from 'vitest';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { readReportedUsage, type RunningUsage, reportUsage } from '#shared/ledger/claim/report-usage.ts';
import { cancelTask, reopenTask } from '#shared/ledger/change-task.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { estimatedUsage, type TaskUsage, usageDay, usageRows } from '#shared/tasks/usage.ts';
import { DONE, FAILURE, type Held, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger({ usage: { maxRows: 3 } });

/** Tokens of a model, at a micro-dollar each; of an unknown model without a cost. */
function used(model: string, inputTokens: number, outputTokens = 0, isKnown = true): TaskUsage {
  const usage = { inputTokens, outputTokens, costMicroUsd: isKnown ? inputTokens + outputTokens : null };
  return { ...usage, byModel: { [model]: usage } };
}

const running = async (wish: Parameters<typeof test.accepted>[0] = {}): Promise<Held> => await test.claimed(await test.accepted(wish));
const rows = async (): Promise<Record<string, string>> => await test.redis.hgetall(test.keys.tenant(TENANT).usageDay(usageDay(Date.now())));
const reports = async (): Promise<number> => await test.redis.hlen(test.keys.tenant(TENANT).runningUsage);
const usagesOf = async (id: string): Promise<unknown[]> => (await test.read(id)).attempts.map(({ usage }) => usage ?? null);

/** What a worker keeps with the ledger while an attempt runs. */
function runningUsage(usage: TaskUsage): RunningUsage {
  const estimated = estimatedUsage(usage);
  return { usage: estimated, rows: usageRows({ agent: 'echo', source: 'api', usage: estimated, attempts: 1 }) };
}

describe('what an attempt used', () => {
  it('is added to the row of its agent, source and model', async () => {
    await test.settle(await running(), { ...DONE, usage: used('large', 10, 5) });
    await test.settle(await running(), { ...DONE, usage: used('large', 1, 1) });
    await test.settle(await running({ agent: 'writer' }), { ...DONE, usage: used('a b|c', 7) });
    expect(await rows()).toEqual({ 'echo|api|large': '11 6 0 0 17 0 0 0 2', 'writer|api|a b|c': '7 0 0 0 7 0 0 0 1' });
    const kept = await test.redis.ttl(test.keys.tenant(TENANT).usageDay(usageDay(Date.now())));
    expect(kept).toBeGreaterThan(365 * 86_400);
  });

  it('is counted once for each of several attempts that end alike in one call', async () => {
    const held = [await running(), await running(), await running()];
    await Promise.all(held.map((each) => test.settle(each, { ...DONE, usage: used('large', 10, 5) })));
    expect(await rows()).toEqual({ 'echo|api|large': '30 15 0 0 45 0 0 0 3' });
  });

  it('keeps a model with a space in its name in the head of the state of a completed task', async () => {
    const held = await running();
    const stored = (await test.redis.hget(test.keys.tenant(TENANT).states, held.id)) as string;
    const usage = used('my model', 1);
    await settleAttempt(test.ledger, held, { ...DONE, usage }, { stored, first: held.state, now: Date.now() });
    expect((await test.state(held.id)).usage).toEqual(usage);
    expect(await usagesOf(held.id)).toEqual([usage]);
    expect(await test.redis.hget(test.keys.tenant(TENANT).states, held.id)).toMatch(/^=completed .* -$/);
  });

  it('is summed over the attempts of a task, and known of each', async () => {
    const id = await test.accepted();
    await test.settle(await test.claimed(id), { ...retry(0), usage: used('large', 10) });
    await test.settle(await test.claimed(id), { kind: 'interrupted', reason: 'drained', delayMs: 0, usage: used('large', 4) });
    await test.settle(await test.claimed(id), { kind: 'failed', error: FAILURE, delayMs: null, usage: used('small', 2, 0, false) });
    const { usage } = await test.state(id);
    expect(usage).toEqual({
      inputTokens: 16,
      outputTokens: 0,
      costMicroUsd: null,
      byModel: {
        large: { inputTokens: 14, outputTokens: 0, costMicroUsd: 14 },
        small: { inputTokens: 2, outputTokens: 0, costMicroUsd: null },
      },
    });
    expect(await usagesOf(id)).toEqual([used('large', 10), used('large', 4), used('small', 2, 0, false)]);
    expect(await rows()).toEqual({ 'echo|api|large': '14 0 0 0 14 0 0 0 2', 'echo|api|small': '2 0 0 0 0 1 0 0 1' });
    await reopenTask(test.ledger, await test.place(id));
    await test.settle(await test.claimed(id), DONE);
    expect(await usagesOf(id)).toEqual([used('large', 10), used('large', 4), used('small', 2, 0, false), null]);
  });

  it('counts once, however often its settlement is sent', async () => {
    const held = await running();
    const stored = (await test.redis.hget(test.keys.tenant(TENANT).states, held.id)) as string;
    const seen = { stored, first: held.state, now: Date.now() };
    for (let times = 0; times < 3; times += 1) await settleAttempt(test.ledger, held, { ...DONE, usage: used('large', 10) }, seen);
    expect(await rows()).toEqual({ 'echo|api|large': '10 0 0 0 10 0 0 0 1' });
  });

  it('counts also when a cancel wins over its failure', async () => {
    const held = await running();
    await cancelTask(test.ledger, held, 'enough');
    await test.settle(held, { ...retry(0), usage: used('large', 10) });
    expect(await test.state(held.id)).toMatchObject({ status: 'cancelled', usage: { inputTokens: 10 } });
    expect(await rows()).toEqual({ 'echo|api|large': '10 0 0 0 10 0 0 0 1' });
  });

  it('counts model calls under their models', async () => {
    await test.settle(await running(), { ...DONE, usage: used('large', 10), calls: { large: 3 } });
    expect(await rows()).toEqual({ 'echo|api|large': '10 0 0 0 10 0 0 3 1' });
  });

  it('counts as other, by source, what comes when a day has its last row', async () => {
    for (const model of ['a', 'b', 'c', 'd', 'e', 'a']) await test.settle(await running(), { ...DONE, usage: used(model, 1) });
    await test.settle(await running({ source: 'chat' }), { ...DONE, usage: used('f', 1) });
    expect(await rows()).toEqual({
      'echo|api|a': '2 0 0 0 2 0 0 0 2',
      'echo|api|b': '1 0 0 0 1 0 0 0 1',
      'echo|api|c': '1 0 0 0 1 0 0 0 1',
      '*|api|*': '2 0 0 0 2 0 0 0 2',
      '*|chat|*': '1 0 0 0 1 0 0 0 1',
    });
  });
});

describe('an attempt that is lost with its process', () => {
  it('counts what it reported last, as estimated, with its task', async () => {
    const id = await test.accepted();
    await test.settle(await test.claimed(id), { ...retry(0), usage: used('large', 10) });
    const held = await test.claimed(id);
    expect(await reportUsage(test.ledger, held, runningUsage(used('large', 3)))).toBe(true);
    expect(await reportUsage(test.ledger, held, runningUsage(used('small', 5, 0, false)))).toBe(true);
    expect(await expireLease(test.ledger, held, { blame: 'cleared', isGone: true })).toBe('requeued');
    expect(await rows()).toEqual({ 'echo|api|large': '10 0 0 0 10 0 0 0 1', 'echo|api|small': '5 0 0 0 0 1 1 0 1' });
    const { usage } = await test.state(id);
    expect(usage).toMatchObject({ inputTokens: 15, costMicroUsd: null, isEstimated: true });
    expect(usage?.byModel).toMatchObject({ large: { inputTokens: 10, costMicroUsd: 10 }, small: { inputTokens: 5, costMicroUsd: null } });
    expect(await usagesOf(id)).toMatchObject([{ inputTokens: 10 }, { inputTokens: 5, isEstimated: true }]);
    expect(await reports()).toBe(0);
  });

  it('counts once, whether its worker or the one that takes it back comes first', async () => {
    const [one, other] = [await running(), await running()];
    for (const held of [one, other]) await reportUsage(test.ledger, held, runningUsage(used('large', 3)));
    const end = { ...DONE, usage: used('large', 3) };
    await test.settle(one, end);
    expect(await expireLease(test.ledger, one, { blame: 'cleared', isGone: true })).toBe('gone');
    expect(await expireLease(test.ledger, other, { blame: 'cleared', isGone: true })).toBe('requeued');
    expect(await test.settle(other, end)).toBe('lost');
    expect(await rows()).toEqual({ 'echo|api|large': '6 0 0 0 6 0 1 0 2' });
    expect(await reports()).toBe(0);
  });

  it('has what it reported for the process that goes on with it, until its end', async () => {
    const held = await running();
    expect(await readReportedUsage(test.ledger, held)).toBeNull();
    for (const tokens of [3, 5]) await reportUsage(test.ledger, held, runningUsage(used('large', tokens)));
    expect(await readReportedUsage(test.ledger, held)).toEqual(estimatedUsage(used('large', 5)));
    expect(await readReportedUsage(test.ledger, { ...held, token: held.token + 1 })).toBeNull();
    await test.settle(held, { ...DONE, usage: used('large', 6) });
    expect(await readReportedUsage(test.ledger, held)).toBeNull();
  });

  it('can report no more', async () => {
    const held = await running();
    await expireLease(test.ledger, held, { blame: 'cleared', isGone: true });
    expect(await reportUsage(test.ledger, held, runningUsage(used('large', 3)))).toBe(false);
    expect(await reports()).toBe(0);
  });
});
