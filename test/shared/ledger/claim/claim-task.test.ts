import { describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { reissueTicket } from '#shared/ledger/grants/repair-tickets.ts';
import { limitsOf, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LEASE_MS = 10_000;
const LANE = { name: 'session:s', limit: 1 };
const inAnHour = (): number => Date.now() + 3_600_000;

const test = await useCheckedLedger();

describe('claiming a task', () => {
  it('gives it to the worker under a token and a lease, with its body', async () => {
    const id = await test.accepted({ input: 'say this' });
    const from = Date.now();
    const answer = await test.claim(id, 'w7');
    expect(answer).toMatchObject({
      kind: 'claimed',
      body: { id, input: 'say this' },
      state: { status: 'running', worker: 'w7', token: 1, spent: 1, attempt: 1 },
    });
    const lease = Number(await test.redis.zscore(test.keys.shard(0).leases, `${TENANT}/${id}/1`));
    expect(lease).toBeGreaterThanOrEqual(from + LEASE_MS);
    expect(lease).toBeLessThanOrEqual(Date.now() + LEASE_MS);
    expect((await test.events(id)).at(-1)).toBe('task.started');
  });

  it('goes through "scheduled" on its way, at no time of its own', async () => {
    const id = await test.accepted();
    const { state } = await test.claimed(id);
    expect(state.log).toMatch(/^pending@\d+;queued@\d+;scheduled@\d+ w1;running@\d+$/);
    expect(state.scheduledAt).toBe(state.startedAt);
  });

  it('lets one of many have it, in one process and in two', async () => {
    const id = await test.accepted();
    const place = await test.place(id);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => claimTask(n % 2 ? test.ledger : test.rival, place, `w${n}`)));
    expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'busy')).toHaveLength(29);
    expect((await test.state(id)).spent).toBe(1);
  });

  it('has nothing to give for a task that is unknown, another tenant’s, or at its end', async () => {
    const id = await test.accepted();
    expect(await claimTask(test.ledger, { tenant: TENANT, id: 'nobody', lane: null }, 'w1')).toEqual({ kind: 'unknown' });
    expect(await claimTask(test.ledger, { tenant: 'other', id, lane: null }, 'w1')).toEqual({ kind: 'unknown' });
    await test.completed(id);
    expect(await test.claim(id)).toEqual({ kind: 'ended' });
  });

  it('claims many in one step, each with its own answer', async () => {
    const ids = await Promise.all([test.accepted(), test.accepted(), test.accepted({ scheduledFor: inAnHour() })]);
    const places = [...(await Promise.all(ids.map((id) => test.place(id)))), { tenant: TENANT, id: 'nobody', lane: null }];
    const answers = await Promise.all(places.map((place) => claimTask(test.ledger, place, 'w1')));
    expect(answers.map(({ kind }) => kind)).toEqual(['claimed', 'claimed', 'parked', 'unknown']);
  });

  it('counts each attempt before it runs', async () => {
    const id = await test.accepted();
    await test.settle(await test.claimed(id), retry(0));
    const second = await test.claimed(id);
    expect(second.state).toMatchObject({ token: 2, spent: 2, attempt: 2 });
    expect((await test.read(id)).attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 'failed'],
      [2, 'running'],
    ]);
  });

  it('takes over one that the step of another let through', async () => {
    const first = await test.accepted({ lane: LANE });
    const second = await test.accepted({ lane: LANE });
    await test.completed(first);
    expect((await test.claim(second)).kind).toBe('claimed');
  });
});

describe('a task that is not due', () => {
  it('stays parked until it is due, also when a ticket comes for it before', async () => {
    const at = inAnHour();
    const id = await test.accepted({ scheduledFor: at });
    expect(await test.claim(id)).toEqual({ kind: 'parked' });
    expect(await test.state(id)).toMatchObject({ status: 'pending', gate: 'time', notBefore: at });
  });

  it('runs once it is due, and takes its lane then', async () => {
    const id = await test.accepted({ scheduledFor: inAnHour(), lane: LANE });
    await test.makeDue(id);
    expect((await test.claim(id)).kind).toBe('claimed');
    expect(await test.accept({ lane: LANE })).toMatchObject({ gate: 'lane' });
  });

  it.each([
    ['lane', { lane: LANE }],
    ['cap', {}],
  ])('waits for a %s that is taken when it is due, without a ticket until it is let through', async (gate, wish) => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted(wish);
    const id = await test.accepted({ scheduledFor: inAnHour(), ...wish });
    await test.makeDue(id);
    expect((await test.claim(id)).kind).toBe('parked');
    const state = await test.state(id);
    expect([state.gate, state.notBefore]).toEqual([gate, undefined]);
    expect(await reissueTicket(test.ledger, TENANT, { task: id, number: state.ticket })).toBeNull();
    expect((await test.claim(id)).kind).toBe('parked');
    await test.completed(holder);
    expect(test.granted.map(({ task }) => task)).toEqual([id]);
    expect((await test.claim(id)).kind).toBe('claimed');
  });
});

describe('a deadline that passed before the start', () => {
  it('ends the task as stale when it is claimed, and lets the next of its lane in', async () => {
    const id = await test.accepted({ deadline: inAnHour(), lane: LANE });
    const next = await test.accepted({ lane: LANE });
    await test.makeDue(id, 'deadline');
    expect(await test.claim(id)).toEqual({ kind: 'ended' });
    expect(await test.state(id)).toMatchObject({ status: 'stale', outcome: { kind: 'expired' } });
    expect(test.granted.map(({ task }) => task)).toEqual([next]);
    expect((await test.events(id)).at(-1)).toBe('task.stale');
  });

  it('does not end one that had started', async () => {
    const id = await test.accepted({ deadline: inAnHour() });
    await test.settle(await test.claimed(id), retry(0));
    await test.makeDue(id, 'deadline');
    expect((await test.claim(id)).kind).toBe('claimed');
  });
});

describe('a race of a claim and a cancel', () => {
  it('has one winner, and never a task that runs without anybody knowing', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await test.accepted();
      const place = await test.place(id);
      const calls = [claimTask(test.ledger, place, 'w1'), cancelTask(test.rival, place, 'no')] as const;
      const [claim, cancel] = await Promise.all(round % 2 ? calls : [calls[0], calls[1]]);
      expect([claim.kind, cancel.kind].join(' ')).toMatch(/^(claimed stopping|ended cancelled)$/);
      if (claim.kind === 'claimed') await test.settle({ ...place, token: claim.state.token, state: claim.state }, retry(0));
      expect(await test.statuses(id)).toEqual(['cancelled']);
    }
  });
});

describe('a claim that cannot be carried out', () => {
  it('fails alone, and what was claimed in the same turn has its lease', async () => {
    const [before, broken, after] = await Promise.all([test.accepted(), test.accepted(), test.accepted()]);
    const places = await Promise.all([before, broken, after].map((id) => test.place(id)));
    const { states } = test.keys.tenant(TENANT);
    const state = (await test.redis.hget(states, broken)) ?? '';
    await test.redis.hset(states, broken, '{"broken');
    const answers = await Promise.allSettled(places.map((place) => claimTask(test.ledger, place, 'w1')));
    await test.redis.hset(states, broken, state);
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.kind : answer.status))).toEqual([
      'claimed',
      'rejected',
      'claimed',
    ]);
  });
});
