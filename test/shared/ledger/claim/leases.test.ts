import { describe, expect, it } from 'vitest';
import { appendOutput } from '#shared/ledger/read/run-log.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { cancelTask, reopenTask } from '#shared/ledger/change-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { leaseMember, renewLeases } from '#shared/ledger/claim/leases.ts';
import { DONE, limitsOf, retry, TENANT, type TestLedger, type Held } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };

const test = await useCheckedLedger();

const running = async (wish: Parameters<TestLedger['accepted']>[0] = {}): Promise<Held> => await test.claimed(await test.accepted(wish));
const lease = async (held: Held): Promise<number> => Number(await test.redis.zscore(test.keys.shard(0).leases, leaseMember(held)));

const lostAgain = async (id: string, isolation: 'own' | 'shared', isOwnEnd = true): Promise<void> => {
  await test.makeDue(id);
  const place = await test.place(id);
  const claim = await claimTask(test.ledger, place, 'w2', { isolation });
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  await expireLease(test.ledger, { ...place, token: claim.state.token }, { blame: 'unknown', isGone: true, isOwnEnd });
};

describe('taking an attempt back', () => {
  it('puts its task off as a suspect with the reason, and spends no attempt', async () => {
    const held = await running();
    const from = Date.now();
    await test.endLease(held);
    expect(await expireLease(test.ledger, held)).toBe('requeued');
    const task = await test.read(held.id);
    expect(task.state).toMatchObject({ status: 'queued', gate: 'suspect', losses: 1, spent: 0, error: { code: 'WORKER_LOST' } });
    expect(task.state.granted).toBeUndefined();
    expect(task.state.notBefore).toBeGreaterThanOrEqual(from + 1000);
    expect(task.attempts).toMatchObject([{ number: 1, worker: 'w1', status: 'interrupted', error: { code: 'WORKER_LOST' } }]);
    await test.makeDue(held.id);
    expect(test.granted).toMatchObject([{ task: held.id, number: 2 }]);
    expect(await test.events(held.id)).toContain('task.interrupted');
  });

  it('brings those apart that were lost together', async () => {
    const all = [];
    for (let count = 0; count < 5; count += 1) all.push(await running());
    for (const held of all) await test.endLease(held);
    await Promise.all(all.map((held) => expireLease(test.ledger, held)));
    const times = await Promise.all(all.map(async ({ id }) => (await test.state(id)).notBefore ?? 0));
    expect(new Set(times).size).toBeGreaterThan(1);
    expect(Math.max(...times) - Date.now()).toBeLessThan(2100);
  });

  it('charges an attempt to the guilty one, and lets the others go on at once', async () => {
    const [guilty, other] = [await running(), await running()];
    await expireLease(test.ledger, guilty, { blame: 'guilty', isGone: true, message: 'It ended its process with code 7' });
    await expireLease(test.ledger, other, { blame: 'cleared', isGone: true });
    expect(await test.state(guilty.id)).toMatchObject({
      status: 'failed',
      gate: 'suspect',
      spent: 1,
      losses: 1,
      error: { message: 'It ended its process with code 7' },
    });
    expect((await test.read(guilty.id)).attempts).toMatchObject([{ status: 'failed' }]);
    const state = await test.state(other.id);
    expect(state).toMatchObject({ status: 'queued', granted: true, spent: 0 });
    expect(state.losses).toBeUndefined();
    expect(test.granted.map(({ task }) => task)).toEqual([other.id]);
  });

  it('knows the guilty one by that it ran in a process of its own, and by nothing less', async () => {
    const held = await running();
    await expireLease(test.ledger, held, { blame: 'unknown', isGone: true });
    await lostAgain(held.id, 'shared');
    expect(await test.state(held.id)).toMatchObject({ status: 'queued', spent: 0, losses: 2 });
    await lostAgain(held.id, 'own');
    expect(await test.state(held.id)).toMatchObject({ status: 'permanently_failed', spent: 1, losses: 3, error: { code: 'WORKER_LOST' } });
  });

  it('does not hold against a task that its own process went down with the machine, but for twice as many losses', async () => {
    const held = await running();
    await expireLease(test.ledger, held, { blame: 'unknown', isGone: true });
    for (let losses = 2; losses < 6; losses += 1) {
      await lostAgain(held.id, 'own', false);
      expect(await test.state(held.id)).toMatchObject({ status: 'queued', spent: 0, losses });
    }
    await lostAgain(held.id, 'own', false);
    expect((await test.state(held.id)).status).toBe('permanently_failed');
  });

  it('counts a task that fails for good so among the failures of its agent in a row', async () => {
    const held = await running({ maxAttempts: 1 });
    await test.endLease(held);
    await expireLease(test.ledger, held, { blame: 'guilty' });
    const { agent } = await test.state(held.id);
    const failing = await test.redis.hget(test.keys.tenant(TENANT).failing, agent);
    expect(JSON.parse(failing ?? '{}')).toMatchObject({ failures: 1, code: 'WORKER_LOST', task: held.id });
  });

  it('fails the guilty task for good after its last attempt', async () => {
    const held = await running({ maxAttempts: 1 });
    await test.endLease(held);
    expect(await expireLease(test.ledger, held, { blame: 'guilty' })).toBe('ended');
    expect(await test.state(held.id)).toMatchObject({
      status: 'permanently_failed',
      error: { code: 'WORKER_LOST' },
      outcome: { kind: 'ran' },
    });
  });

  it('fails it after three losses, whatever attempts it has left, and runs it isolated when it is opened again', async () => {
    const held = await running({ maxAttempts: 100 });
    await expireLease(test.ledger, held, { blame: 'unknown', isGone: true });
    await lostAgain(held.id, 'own');
    expect((await test.state(held.id)).status).toBe('failed');
    await lostAgain(held.id, 'own');
    expect(await test.state(held.id)).toMatchObject({ status: 'permanently_failed', spent: 2, losses: 3 });
    await reopenTask(test.ledger, await test.place(held.id));
    expect(await claimTask(test.ledger, await test.place(held.id), 'w1', { isolation: 'offered' })).toEqual({ kind: 'suspect', losses: 2 });
    await lostAgain(held.id, 'own');
    expect((await test.state(held.id)).status).toBe('permanently_failed');
  });

  it('fails a task for good at its first loss where its agent says so, whoever is to blame', async () => {
    for (const blame of ['unknown', 'guilty', 'cleared'] as const) {
      const held = await running();
      expect(await expireLease(test.ledger, held, { blame, isGone: true, route: 'stop' })).toBe('ended');
      expect(await test.state(held.id)).toMatchObject({ status: 'permanently_failed', error: { code: 'WORKER_LOST', retryable: false } });
    }
  });

  it('charges no attempt where its agent says that the task waits, but for the bound on losses', async () => {
    const held = await running({ maxAttempts: 1 });
    await expireLease(test.ledger, held, { blame: 'guilty', isGone: true, route: 'wait' });
    expect(await test.state(held.id)).toMatchObject({ status: 'queued', spent: 0, losses: 1 });
    await test.makeDue(held.id);
    await expireLease(test.ledger, await test.claimed(held.id), { blame: 'guilty', isGone: true, route: 'wait' });
    await test.makeDue(held.id);
    await expireLease(test.ledger, await test.claimed(held.id), { blame: 'guilty', isGone: true, route: 'wait' });
    expect(await test.state(held.id)).toMatchObject({ status: 'permanently_failed', losses: 3 });
  });

  it('ends the task as cancelled when it was requested', async () => {
    const held = await running();
    await cancelTask(test.ledger, held, 'no more');
    await test.endLease(held);
    expect(await expireLease(test.ledger, held)).toBe('ended');
    expect(await test.state(held.id)).toMatchObject({ status: 'cancelled', outcome: { kind: 'cancelled', reason: 'no more' } });
    expect((await test.read(held.id)).attempts).toMatchObject([{ status: 'cancelled' }]);
  });

  it('does not touch an attempt whose lease stands', async () => {
    const held = await running();
    expect(await expireLease(test.ledger, held)).toBe('held');
    expect(await test.statuses(held.id)).toEqual(['running']);
  });

  it('does not touch an attempt that was settled, taken back before, or is of another tenant', async () => {
    const held = await running();
    await test.endLease(held);
    expect(await expireLease(test.ledger, { ...held, tenant: 'other' })).toBe('gone');
    expect(await expireLease(test.ledger, { ...held, token: 7 })).toBe('gone');
    await expireLease(test.ledger, held);
    expect(await expireLease(test.ledger, held)).toBe('gone');
    await test.makeDue(held.id);
    const again = await test.claimed(held.id);
    expect(await expireLease(test.ledger, held)).toBe('gone');
    await test.settle(again, DONE);
    expect(await expireLease(test.ledger, again)).toBe('gone');
    expect(await test.statuses(held.id)).toEqual(['completed']);
  });

  it('takes a running task back that lost its lease altogether', async () => {
    const held = await running();
    await test.redis.del(test.keys.shard(0).leases);
    expect(await expireLease(test.ledger, held)).toBe('requeued');
  });

  it('happens once when many check at the same time', async () => {
    const held = await running();
    await test.endLease(held);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => expireLease(n % 2 ? test.ledger : test.rival, held)));
    expect(answers.filter((answer) => answer === 'requeued')).toHaveLength(1);
    expect((await test.read(held.id)).attempts).toHaveLength(1);
    expect((await test.state(held.id)).losses).toBe(1);
  });

  it('and settling the same attempt have one winner', async () => {
    for (let round = 0; round < 20; round += 1) {
      const held = await running();
      await test.endLease(held);
      const [settled, expired] = await Promise.all([test.settle(held, DONE), expireLease(test.rival, held)]);
      expect(`${settled} ${expired}`).toMatch(/^(completed gone|lost requeued)$/);
    }
  });

  it('keeps the lane for the task, and leaves its grant to others', async () => {
    test.limits = limitsOf({ running: 1 });
    const held = await running({ lane: LANE });
    const next = await test.accepted({ lane: LANE });
    await test.endLease(held);
    await expireLease(test.ledger, held);
    expect((await test.state(next)).gate).toBe('lane');
    const other = await test.accepted();
    expect((await test.state(other)).granted).toBe(true);
    await test.makeDue(held.id);
    expect((await test.state(held.id)).gate).toBe('cap');
    await test.completed(other);
    expect((await test.claim(held.id)).kind).toBe('claimed');
  });

  it('grants the next under the caps at once, whether it charges an attempt or not', async () => {
    test.limits = limitsOf({ running: 1 });
    for (const blame of ['unknown', 'guilty'] as const) {
      const held = await running();
      const next = await test.accepted();
      await expireLease(test.ledger, held, { blame, isGone: true });
      expect(await test.state(next)).toMatchObject({ status: 'queued', granted: true });
      await test.completed(next);
    }
  });

  it('parks a suspect while the process for suspects is full, and leaves its grant and its shared lanes to others', async () => {
    test.limits = limitsOf({ running: 1 });
    const sharedLanes = [{ name: 'gpu', limit: 1 }];
    const held = await test.claimed(await test.accepted({ sharedLanes }));
    await expireLease(test.ledger, held, { blame: 'unknown', isGone: true });
    await test.makeDue(held.id);
    const next = await test.accepted({ sharedLanes });
    expect(await claimTask(test.ledger, await test.place(held.id), 'w2', { isolation: 'full' })).toEqual({ kind: 'parked' });
    const { gate, granted, notBefore = 0 } = await test.state(held.id);
    expect([gate, granted, notBefore > Date.now()]).toEqual(['suspect', undefined, true]);
    expect((await test.state(next)).granted).toBe(true);
  });

  it('brings suspects apart that found the process for suspects full together, within twice the delay', async () => {
    const all: Held[] = [];
    for (let count = 0; count < 40; count += 1) all.push(await running());
    for (const held of all) {
      await expireLease(test.ledger, held, { blame: 'unknown', isGone: true });
      await test.makeDue(held.id);
    }
    const places = await Promise.all(all.map(({ id }) => test.place(id)));
    const { suspectDelayMs } = test.ledger.settings.worker;
    const from = Date.now();
    await Promise.all(places.map((place) => claimTask(test.ledger, place, 'w2', { isolation: 'full' })));
    const waits = await Promise.all(all.map(async ({ id }) => ((await test.state(id)).notBefore ?? 0) - from));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(suspectDelayMs);
    expect(Math.max(...waits)).toBeLessThan(2 * suspectDelayMs + (Date.now() - from));
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(suspectDelayMs / 2);
  });

  it('lets the next of the lane in when it ends the task', async () => {
    const held = await running({ lane: LANE, maxAttempts: 1 });
    const next = await test.accepted({ lane: LANE });
    await expireLease(test.ledger, held, { blame: 'guilty', isGone: true });
    expect(test.granted.map(({ task }) => task)).toEqual([next]);
  });
});

describe('a worker that comes back after its attempt was taken', () => {
  it('can neither settle nor write nor renew', async () => {
    const held = await running();
    await test.endLease(held);
    await expireLease(test.ledger, held);
    await test.makeDue(held.id);
    const again = await test.claimed(held.id, 'w2');
    expect(await test.settle(held, DONE)).toBe('lost');
    expect(await appendOutput(test.ledger, held, { attempt: 1, seq: 1, text: 'ghost' })).toBe(false);
    expect(await renewLeases(test.ledger, 0, [leaseMember(held), leaseMember(again)])).toEqual(['lost', 'held']);
    expect(await test.redis.exists(test.keys.tenant(TENANT).output(held.id))).toBe(0);
    expect(await test.state(held.id)).toMatchObject({ status: 'running', worker: 'w2', token: 2 });
  });
});

describe('renewing leases', () => {
  it('extends those that are held, in the order of the request', async () => {
    const [one, two] = [await running(), await running()];
    await test.endLease(two);
    expect(await renewLeases(test.ledger, 0, [leaseMember(two), 'acme/nobody/1', leaseMember(one)])).toEqual(['held', 'lost', 'held']);
    expect(await lease(two)).toBeGreaterThan(Date.now() + 9000);
    expect(await expireLease(test.ledger, two)).toBe('held');
  });

  it('answers a stop and does not extend then, however often it is called', async () => {
    const held = await running();
    await cancelTask(test.ledger, held, 'enough');
    const ends = await lease(held);
    for (let n = 0; n < 3; n += 1)
      expect(await renewLeases(test.ledger, 0, [leaseMember(held)])).toEqual([{ kind: 'cancel', reason: 'enough' }]);
    expect(await lease(held)).toBe(ends);
    expect(ends).toBeLessThanOrEqual(Date.now() + 5000);
  });

  it('leaves a stop no more time than the lease had', async () => {
    const held = await running();
    const ends = Date.now() + 1000;
    await test.redis.zadd(test.keys.shard(0).leases, ends, leaseMember(held));
    await cancelTask(test.ledger, held, 'enough');
    expect(await lease(held)).toBe(ends);
  });

  it('of none answers with none', async () => {
    expect(await renewLeases(test.ledger, 0, [])).toEqual([]);
  });

  it('does not bring a settled attempt back', async () => {
    const held = await running();
    await test.settle(held, retry(60_000));
    expect(await renewLeases(test.ledger, 0, [leaseMember(held)])).toEqual(['lost']);
    expect(await test.redis.zcard(test.keys.shard(0).leases)).toBe(0);
  });
});

describe('writing output', () => {
  it('appends with the attempt and its own count, and keeps it for a while', async () => {
    const held = await running();
    expect(await appendOutput(test.ledger, held, { attempt: 1, seq: 1, text: 'a' })).toBe(true);
    expect(await appendOutput(test.ledger, held, { attempt: 1, seq: 2, text: 'b\n' })).toBe(true);
    const key = test.keys.tenant(TENANT).output(held.id);
    expect((await test.redis.xrange(key, '-', '+')).map(([, fields]) => fields)).toEqual([
      ['attempt', '1', 'seq', '1', 'text', 'a'],
      ['attempt', '1', 'seq', '2', 'text', 'b\n'],
    ]);
    expect(await test.redis.pttl(key)).toBeGreaterThan(3_500_000);
  });

  it('is refused to whoever does not hold the task', async () => {
    const held = await running();
    for (const other of [
      { ...held, token: 2 },
      { ...held, tenant: 'other' },
      { ...held, id: 'nobody' },
    ]) {
      expect(await appendOutput(test.ledger, other, { attempt: 1, seq: 1, text: 'x' })).toBe(false);
    }
    await test.settle(held, DONE);
    expect(await appendOutput(test.ledger, held, { attempt: 1, seq: 1, text: 'x' })).toBe(false);
  });
});
