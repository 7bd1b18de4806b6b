import { describe, expect, it } from 'vitest';
import { reconcileSchedules } from '#shared/schedules/firing/reconcile-schedules.ts';
import { updateSchedule } from '#shared/schedules/changes/update-schedule.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();

const due = (): string => t.parts.keys.shard(0).schedulesDue;

describe('reconciling', () => {
  it('restores missing due times, removes those without a record, and corrects wrong ones', async () => {
    const [lost, moved, paused, right] = [await t.make(), await t.make(), await t.make(), await t.make()];
    await updateSchedule(t.parts, TENANT, paused.id, { status: 'paused' });
    await t.parts.redis.zrem(due(), `${TENANT}/${lost.id}`);
    await t.parts.redis.zadd(due(), 17, `${TENANT}/${moved.id}`, 18, `${TENANT}/${paused.id}`, 19, `${TENANT}/orphan`);
    await reconcileSchedules(t.parts, 0);
    const scores = await t.parts.redis.zrange(due(), 0, '-1', 'WITHSCORES');
    const expected = [lost, moved, right].flatMap(({ id, wakeAt }) => [`${TENANT}/${id}`, String(wakeAt)]);
    expect(scores.toSorted()).toEqual(expected.toSorted());
    expect((await t.read(right)).version).toBe(1);
  });

  it('keeps an unreadable record, and repairs the others', async () => {
    const [bad, good] = [await t.make(), await t.make()];
    await t.parts.redis.hset(t.parts.keys.tenant(TENANT).schedules, bad.id, 'rubbish');
    await t.parts.redis.zrem(due(), `${TENANT}/${good.id}`);
    await reconcileSchedules(t.parts, 0);
    expect(await t.parts.redis.zrange(due(), 0, '-1')).toEqual([`${TENANT}/${good.id}`]);
  });

  it('ends a one-shot whose run ended unnoticed', async () => {
    const schedule = await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString() });
    t.clock.now += MINUTE;
    await t.fire();
    await reconcileSchedules(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'active' });
    await driveTasks(t.fleet).complete((await t.read(schedule)).lastRunId ?? '', 'done');
    await t.parts.redis.del(t.parts.keys.shard(0).ended);
    await reconcileSchedules(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'completed' });
  });
});
