import { expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { readFleetCounts } from '#shared/metrics/read-metrics.ts';
import { taskRecord } from '#shared/tasks/task-record.ts';
import { watchSlas } from '../../../../services/worker/chores/watch-slas.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts();

async function accept(inMs: number): Promise<string> {
  const sla = new Date(Date.now() + inMs).toISOString();
  return (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', sla })).id;
}

const isBreached = async (id: string): Promise<unknown> => {
  const task = await readTask(parts.ledger, 'default', id);
  return task && taskRecord(task)['slaBreached'];
};

it('notes each task once whose sla has passed, in its record, the metrics and the log', async () => {
  const [late, early] = [await accept(-1000), await accept(3_600_000)];
  // An entry that cannot be read keeps no other from being noted.
  await parts.redis.hset(parts.keys.tenant('default').states, 'broken', '{');
  await parts.redis.zadd(parts.keys.shard(0).slas, 1, 'default/broken');
  await watchSlas(parts);
  await watchSlas(parts);
  expect([await isBreached(late), await isBreached(early)]).toEqual([true, false]);
  await parts.metrics.flush();
  const counted = (await readFleetCounts(parts)).filter(({ family }) => family === 'sla-breached');
  expect(counted).toMatchObject([{ labels: ['tasks', 'normal', 'api'], value: 1 }]);
});
