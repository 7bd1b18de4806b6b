import { expect, it } from 'vitest';
import { FindingWatch } from '#shared/findings/list/finding-watch.ts';
import { readList } from '#shared/findings/list/finding-store.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { openFindings } from '../../../services/api/fleet/open-findings.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const parts = await useEmptyParts();
const { redis, keys } = parts;
let turn = 0;
const clock = { now: () => turn * 5000, monotonic: () => 0 };
const watch = new FindingWatch({ ...parts, list: openFindings(parts), clock });
const found = async (tenant: string | null): Promise<string[]> => (await readList(parts, tenant)).findings.map(({ id }) => id);

/** Looks as often as it takes to come to each tenant. */
async function lookAtAll(): Promise<void> {
  for (turn = 0; turn < 24; turn += 1) {
    await redis.del(keys.fleet.findingsLooked);
    await watch.look();
  }
}

it('what comes while nobody asks is found, of the installation and of each tenant, and kept', async () => {
  await redis.hset(keys.fleet.unservedQueues, 'chat', 1, 'chat notified', 1);
  await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
  const { agentMinute } = keys.tenant('default');
  await redis.hset(agentMinute(Math.floor(Date.now() / 60_000)), 'echo|failed', 9);
  await lookAtAll();
  expect([await found(null), await found('default')]).toEqual([expect.arrayContaining(['queue.unserved:chat']), ['agent.failing:echo']]);
});

it('of several processes one looks', async () => {
  await redis.hset(keys.fleet.unservedQueues, 'chat', 1, 'chat notified', 1);
  await redis.set(keys.fleet.findingsLooked, '');
  await watch.look();
  expect(await found(null)).toEqual([]);
});
