import pMap from 'p-map';
import { afterEach, expect, it } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { Clock } from '#shared/time/clock.ts';
import { applyAllLimits } from '../../../../services/worker/chores/worker-chores.ts';
import { TicketAudit } from '../../../../services/worker/chores/audit-tickets.ts';
import { trimTasks } from '../../../../services/worker/chores/trim-tasks.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { driveTasks } from '../../api/support/drive-tasks.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const TENANT = 'default';
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Calls at once: one after the other a thousand take too long on a busy machine. */
const AT_ONCE = 50;

let parts: Parts;

const redis = await useRedis();
afterEach(async () => {
  await parts.redis.flushall();
  await parts.close();
});

async function open(tasks: SettingsInput['tasks'] = {}): Promise<void> {
  parts = await openTestParts({ redisUrl: redis.url, settings: { agents: { echo: { kind: 'echo' } }, tasks } });
}

/** So long after now. */
function later(ms: number): Clock {
  return { now: () => Date.now() + ms, monotonic: () => performance.now() };
}

async function accept(count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const accepted = await pMap(
    numbers,
    (number) => acceptTask(parts, { tenant: TENANT, agent: 'echo', input: `${number}`, session: `s-${number}` }),
    { concurrency: AT_ONCE },
  );
  return accepted.map(({ id }) => id).toSorted();
}

async function end(ids: readonly string[]): Promise<void> {
  const drive = driveTasks(parts);
  const endOne = async (id: string): Promise<void> => {
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'said');
    await drive.end(attempt, 'said');
  };
  await pMap(ids, endOne, { concurrency: AT_ONCE });
}

async function kept(): Promise<string[]> {
  const ids: string[] = [];
  let before: string | null | undefined;
  // A page ends early on a busy machine.
  while (before !== null) {
    const { items, next } = await listTasks(parts.ledger, TENANT, {}, { limit: 1000, before });
    ids.push(...items.map(({ body }) => body.id));
    before = next;
  }
  return ids.toSorted();
}

it('forgets what ended longer ago than its retention, and nothing else', async () => {
  await open({ retentionMs: DAY_MS });
  const ended = await accept(4);
  await end(ended);
  const waiting = await accept(2);
  await trimTasks(parts, later(DAY_MS - MINUTE_MS));
  expect(await kept()).toEqual([...ended, ...waiting]);
  await trimTasks(parts, later(DAY_MS + MINUTE_MS));
  expect(await kept()).toEqual(waiting);
});

it('leaves nothing of what it forgets', async () => {
  await open({ retentionMs: DAY_MS });
  const names = async (): Promise<string[]> =>
    (await parts.redis.keys('*t:default:*')).filter((key) => !key.endsWith(':events')).toSorted();
  const before = await names();
  const ids = await accept(3);
  const drive = driveTasks(parts);
  await drive.fail(ids[0] ?? '', null);
  await drive.fail(ids[1] ?? '', 0);
  await drive.complete(ids[1] ?? '', 'said');
  await drive.complete(ids[2] ?? '', 'said');
  await trimTasks(parts, later(DAY_MS + MINUTE_MS));
  expect(await names()).toEqual(before);
});

it('forgets the first accepted of those that are more than may be, but none that ended just now', async () => {
  await open({ maxEnded: 3 });
  const ended = await accept(7);
  await end(ended);
  await trimTasks(parts);
  expect(await kept()).toEqual(ended);
  await trimTasks(parts, later(2 * MINUTE_MS));
  expect(await kept()).toEqual(ended.slice(4));
});

it('gets past many that were accepted long ago and ended late', async () => {
  await open({ retentionMs: DAY_MS });
  const ids = await accept(1100);
  await end(ids);
  const endedLate = Date.now() + DAY_MS;
  const { states } = parts.keys.tenant(TENANT);
  const late = ids.slice(0, 1050);
  const stored = await parts.redis.hmget(states, ...late);
  const changed = late.map((id, position) => [id, (stored[position] ?? '').replace(/\d+ - -$/, `${endedLate} - -`)]);
  await parts.redis.hset(states, Object.fromEntries(changed));
  await trimTasks(parts, later(DAY_MS + MINUTE_MS));
  expect(await kept()).toEqual(late);
});

it('reads tenants without tasks once each', async () => {
  await open({ retentionMs: DAY_MS });
  for (let tenant = 0; tenant < 45; tenant += 1) {
    await parts.tenants.save({ id: `quiet-${tenant}`, name: 'Quiet', disabled: false, limits: null, createdAt: 1 });
  }
  const audit = new TicketAudit(parts);
  for (const chore of [() => trimTasks(parts), () => applyAllLimits(parts), () => audit.run()]) {
    await parts.redis.config('RESETSTAT');
    await chore();
    const calls = [...(await parts.redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name, count]) => [
      name,
      count,
    ]);
    // Once for each tenant, or once for the shard, which says that there is nothing.
    const { zcard, exists } = Object.fromEntries(calls) as Record<string, string | undefined>;
    expect(exists === undefined ? { zcard } : { exists, zcard }).toEqual(exists === undefined ? { zcard: '46' } : { exists: '1' });
    expect(calls.map(([name]) => name)).not.toEqual(expect.arrayContaining(['zrangebylex']));
    expect(Number(Object.fromEntries(calls)['evalsha'] ?? 0)).toBeLessThanOrEqual(1);
  }
});
