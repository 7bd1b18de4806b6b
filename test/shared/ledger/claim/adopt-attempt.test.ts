import { describe, expect, it } from 'vitest';
import { adoptAttempt, type AdoptAnswer } from '#shared/ledger/claim/adopt-attempt.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { leaseMember, renewLeases } from '#shared/ledger/claim/leases.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { DONE, type Held, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const DAEMON = 'dmn_1';

/** An attempt that a daemon runs for the hub `w1`. */
async function running(): Promise<{ held: Held; seen: string; first: Extract<AdoptAnswer, { kind: 'adopted' }>['body']['first'] }> {
  const place = await test.place(await test.accepted());
  const claim = await claimTask(test.ledger, place, 'w1', { daemon: DAEMON });
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  return { held: { ...place, token: claim.state.token, state: claim.state }, seen: claim.stored, first: claim.body.first };
}

const adopt = (held: Held, worker = 'w2', daemon = DAEMON): Promise<AdoptAnswer> => adoptAttempt(test.ledger, held, { worker, daemon });

describe('adopting an attempt', () => {
  it('moves it to the hub under its token, with a new lease', async () => {
    const { held } = await running();
    await test.endLease(held);
    expect(await adopt(held)).toMatchObject({ kind: 'adopted', before: 'w1', state: { worker: 'w2', daemon: DAEMON, token: 1, spent: 1 } });
    const lease = Number(await test.redis.zscore(test.keys.shard(0).leases, leaseMember(held)));
    expect(lease).toBeGreaterThan(Date.now());
    expect(await renewLeases(test.ledger, 0, [leaseMember(held)])).toEqual(['held']);
  });

  it('keeps the hub before from settling it, and lets the new one', async () => {
    const { held, seen, first } = await running();
    const adopted = await adopt(held);
    if (adopted.kind === 'gone') throw new Error('gone');
    const before = await settleAttempt(test.ledger, held, DONE, { stored: seen, first, now: Date.now() });
    expect(before).toBe('lost');
    const now = await settleAttempt(test.ledger, held, DONE, { stored: adopted.stored, first, now: Date.now() });
    expect(now).toMatchObject({ status: 'completed' });
    expect((await test.read(held.id)).attempts).toMatchObject([{ worker: 'w2', daemon: DAEMON, status: 'success' }]);
  });

  it('refuses a daemon that does not run it, an older token, and an attempt of no daemon', async () => {
    const { held } = await running();
    expect(await adopt(held, 'w2', 'dmn_2')).toEqual({ kind: 'gone' });
    expect(await adopt({ ...held, token: 2 })).toEqual({ kind: 'gone' });
    const other = await test.claimed(await test.accepted());
    expect(await adopt(other)).toEqual({ kind: 'gone' });
    expect(await adoptAttempt(test.ledger, { ...held, tenant: 'another' }, { worker: 'w2', daemon: DAEMON })).toEqual({ kind: 'gone' });
  });

  it('refuses one that was settled', async () => {
    const { held } = await running();
    await settleAttempt(test.ledger, held, DONE);
    expect(await adopt(held)).toEqual({ kind: 'gone' });
  });

  it('gives the same answer when the call is sent again', async () => {
    const { held } = await running();
    await adopt(held);
    expect(await adopt(held)).toMatchObject({ kind: 'adopted', before: 'w2', state: { worker: 'w2' } });
  });

  it('leaves it to the last of two hubs', async () => {
    const { held } = await running();
    await Promise.all([adopt(held, 'w2'), adopt(held, 'w3')]);
    expect((await test.state(held.id)).worker).toBe('w3');
  });

  it('does not extend the grace of a stop', async () => {
    const { held } = await running();
    await cancelTask(test.ledger, { tenant: TENANT, id: held.id, lane: null }, 'enough');
    await adopt(held);
    const lease = Number(await test.redis.zscore(test.keys.shard(0).leases, leaseMember(held)));
    expect(lease).toBeLessThan(Date.now() + 5500);
  });
});
