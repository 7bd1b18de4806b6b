import { expect, it } from 'vitest';
import { ShardFiring } from '../../../services/scheduler/shard-firing.ts';
import { MINUTE } from '../../shared/schedules/test-schedules.ts';
import { useSchedules } from '../../shared/schedules/use-schedules.ts';

const t = await useSchedules();

/** Firing that waits at its `call`-th look at the clock. */
function fireUntil(call: number): { firing: ShardFiring; isThere: Promise<void>; goOn: () => void; calls: () => number } {
  const [there, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  const now = async (): Promise<number> => {
    calls += 1;
    if (calls === call) {
      there.resolve();
      await gate.promise;
    }
    return t.clock.now;
  };
  return { firing: new ShardFiring({ ...t.parts, now }, 0), isThere: there.promise, goOn: gate.resolve, calls: () => calls };
}

it('what comes due while a shard sets its timer is fired by the call that comes then', async () => {
  const [first, second] = [await t.make(), await t.make({ every: '2m' })];
  t.clock.now = first.createdAt + MINUTE;
  // After what is due, and after nothing more is.
  const { firing, isThere, goOn } = fireUntil(3);
  const fired = firing.fire();
  await isThere;
  t.clock.now = first.createdAt + 2 * MINUTE;
  const again = firing.fire();
  goOn();
  await Promise.all([fired, again]);
  expect((await t.runs(second)).length).toBe(1);
  await firing.stop();
});

it('a stop waits for what is being fired, and it looks for nothing more', async () => {
  const schedule = await t.make();
  t.clock.now = schedule.createdAt + MINUTE;
  const { firing, isThere, goOn, calls } = fireUntil(1);
  const order: string[] = [];
  const fired = firing.fire().then(() => order.push('fired'));
  await isThere;
  const again = firing.fire();
  const stopped = firing.stop().then(() => order.push('stopped'));
  goOn();
  await Promise.all([fired, again, stopped]);
  expect(order).toEqual(['fired', 'stopped']);
  // For what was due, and for whether there was more.
  expect(calls()).toBe(2);
  expect((await t.runs(schedule)).length).toBe(1);
});
