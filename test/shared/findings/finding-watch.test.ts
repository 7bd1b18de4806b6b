import { expect, it } from 'vitest';
import { openFindingLooks } from '#shared/findings/list/finding-watch.ts';
import { readList } from '#shared/findings/list/finding-store.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { openAlerts, openFindings } from '../../../services/api/fleet/open-findings.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const parts = await useEmptyParts();
const { redis, keys } = parts;
const look = openFindingLooks({ ...parts, list: openFindings(parts), alerts: openAlerts(parts) });
const found = async (tenant: string | null): Promise<string[]> => (await readList(parts, tenant)).findings.map(({ id }) => id);

/** As often as it takes to come to each tenant. */
async function lookAtAll(): Promise<void> {
  for (let turn = 0; turn < 24; turn += 1) await look();
}

it('what comes while nobody asks is found, of the installation and of each tenant, and kept', async () => {
  await redis.hset(keys.fleet.unservedQueues, 'chat', 1, 'chat notified', 1);
  await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
  const { agentMinute } = keys.tenant('default');
  await redis.hset(agentMinute(Math.floor(Date.now() / 60_000)), 'echo|failed', 9);
  await lookAtAll();
  expect([await found(null), await found('default')]).toEqual([expect.arrayContaining(['queue.unserved:chat']), ['agent.failing:echo']]);
});
