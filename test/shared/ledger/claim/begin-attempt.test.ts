import { describe, expect, it } from 'vitest';
import { beginAttempt } from '#shared/ledger/claim/begin-attempt.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { DONE, type Held, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

/** An attempt that was left to a daemon. */
async function assigned(): Promise<Held> {
  const place = await test.place(await test.accepted());
  const claim = await claimTask(test.ledger, place, 'hub', { daemon: 'dmn_1' });
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  return { ...place, token: claim.state.token, state: claim.state };
}

describe('beginning an attempt that was left to a daemon', () => {
  it('takes its task from scheduled to running, with its time and its event', async () => {
    const held = await assigned();
    const before = await test.state(held.id);
    expect(before).toMatchObject({ status: 'scheduled', scheduledAt: expect.any(Number), daemon: 'dmn_1' });
    expect(before.startedAt).toBeUndefined();
    expect(await test.events(held.id)).toEqual(['task.created', 'task.queued', 'task.scheduled']);
    const begun = await beginAttempt(test.ledger, held);
    const after = await test.state(held.id);
    expect(begun).toMatchObject({ kind: 'begun', state: after });
    expect(after).toMatchObject({ status: 'running', startedAt: expect.any(Number) });
    expect(after.log).toMatch(/scheduled@\d+ hub;running@\d+$/);
    expect((await test.events(held.id)).at(-1)).toBe('task.started');
  });

  it('happens once, however often and at once it is called', async () => {
    const held = await assigned();
    const answers = await Promise.all([1, 2, 3].map(() => beginAttempt(test.ledger, held)));
    expect(answers.map(({ kind }) => kind)).toEqual(['begun', 'known', 'known']);
    expect(new Set(answers.map((answer) => 'stored' in answer && answer.stored)).size).toBe(1);
  });

  it('is refused under another token, without a lease, and once it was settled', async () => {
    const held = await assigned();
    expect(await beginAttempt(test.ledger, { ...held, token: 2 })).toEqual({ kind: 'lost' });
    expect(await beginAttempt(test.ledger, { ...held, tenant: 'another' })).toEqual({ kind: 'lost' });
    await settleAttempt(test.ledger, held, retry(5));
    expect(await beginAttempt(test.ledger, held)).toEqual({ kind: 'lost' });
    expect((await test.state(held.id)).log).toMatch(/scheduled@\d+ hub;queued@\d+ \w+$/);
  });

  it('is not needed for an attempt of a worker', async () => {
    const held = await test.claimed(await test.accepted());
    expect((await test.state(held.id)).status).toBe('running');
    await test.settle(held, DONE);
  });
});

it.each([
  ['scheduled', 'running'],
  ['running', 'scheduled'],
] as const)('a search for %s tasks finds them, and none that are %s', async (status, _other) => {
  const held = await assigned();
  const begun = await assigned();
  await beginAttempt(test.ledger, begun);
  const found = await listTasks(test.ledger, TENANT, { status }, { limit: 10 });
  expect(found.items.map(({ body }) => body.id)).toEqual([status === 'scheduled' ? held.id : begun.id]);
});
