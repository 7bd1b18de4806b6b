import { afterEach } from 'vitest';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { openTestSchedules, type TestSchedules } from './test-schedules.ts';

/** Schedules on a Redis of their own, for all tests of a file, emptied after each. */
export async function useSchedules(): Promise<TestSchedules> {
  const schedules = closeAfterTests(await openTestSchedules());
  afterEach(async () => {
    await schedules.fleet.cancels.idle();
    await schedules.fleet.relay.idle();
    await schedules.clear();
  });
  return schedules;
}
