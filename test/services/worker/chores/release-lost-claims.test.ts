import { expect, it } from 'vitest';
import { LeaseKeeper } from '#shared/execution/index.ts';
import { claimTask, leaseMember, readTask } from '#shared/ledger/index.ts';
import { acceptTask } from '#shared/queue/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { releaseLostClaims } from '../../../../services/worker/chores/release-lost-claims.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
const LEASE_MS = 10_000;

const parts = await useEmptyParts({
  agents: { echo: { kind: 'function', run: ({ input }) => Promise.resolve(input) } },
  worker: { leaseMs: LEASE_MS },
});
const { ledger, log } = parts;

const keeper = new LeaseKeeper({ ledger, clock: systemClock, log });
const release = (): Promise<void> => releaseLostClaims({ ledger, keeper, worker: 'this', log });

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
  await release();
  const state = (await readTask(ledger, TENANT, id))?.state;
  expect(state).toMatchObject({ status: 'queued', spent: 0 });
  expect(state).not.toHaveProperty('losses');
});

it('leaves what other workers have, and claims whose answers may be under way', async () => {
  const [others, young] = [await claimedBy('another', LEASE_MS * 0.7), await claimedBy('this', 0)];
  const lost = await claimedBy('this', LEASE_MS * 0.8);
  await release();
  expect([await statusOf(lost), await statusOf(others), await statusOf(young)]).toEqual(['queued', 'running', 'running']);
});
