import { afterEach, beforeEach, expect, it } from 'vitest';
import { LeaseKeeper } from '#shared/execution/index.ts';
import { claimTask, leaseMember, readTask } from '#shared/ledger/index.ts';
import { acceptTask } from '#shared/queue/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { LostClaims } from '../../../../services/worker/upkeep/lost-claims.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TENANT = 'default';
const LEASE_MS = 10_000;

const parts = await useEmptyParts({
  agents: { echo: { kind: 'function', run: ({ input }) => Promise.resolve(input) } },
  worker: { orphanCheckIntervalMs: 100, leaseMs: LEASE_MS },
});
const { ledger, log } = parts;

let lostClaims: LostClaims;
beforeEach(() => {
  const keeper = new LeaseKeeper({ ledger, clock: systemClock, log });
  lostClaims = new LostClaims({ ledger, keeper, worker: 'this', log });
});
afterEach(async () => {
  await lostClaims.stop();
});

/** A task that was claimed so long ago, and whose claim was never renewed. Returns its id. */
async function claimedBy(worker: string, agoMs: number): Promise<string> {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'work' });
  const claim = await claimTask(ledger, { tenant: TENANT, id, lane: null }, worker);
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  const member = leaseMember({ tenant: TENANT, id, token: claim.state.token });
  await parts.redis.zadd(parts.keys.shard(0).leases, Date.now() + LEASE_MS - agoMs, member);
  return id;
}

const statusOf = async (id: string): Promise<string | undefined> => (await readTask(ledger, TENANT, id))?.state.status;

it('releases what was claimed for its worker without the worker knowing, and that costs no attempt', async () => {
  const id = await claimedBy('this', LEASE_MS * 0.7);
  lostClaims.start();
  await waitFor(async () => (await statusOf(id)) === 'queued', { deadlineMs: 10_000, what: 'the task to be released' });
  const state = (await readTask(ledger, TENANT, id))?.state;
  expect(state).toMatchObject({ spent: 0 });
  expect(state).not.toHaveProperty('losses');
});

it('leaves what other workers have, and claims whose answers may be under way', async () => {
  const [others, young] = [await claimedBy('another', LEASE_MS * 0.7), await claimedBy('this', 0)];
  const lost = await claimedBy('this', LEASE_MS * 0.8);
  lostClaims.start();
  await waitFor(async () => (await statusOf(lost)) === 'queued', { deadlineMs: 10_000, what: 'the lost one to be released' });
  expect([await statusOf(others), await statusOf(young)]).toEqual(['running', 'running']);
});
