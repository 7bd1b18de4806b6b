import { afterEach } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { closeAfterTests } from './close-after-tests.ts';
import { openTestParts } from './open-test-parts.ts';
import { useRedis } from './redis/use-redis.ts';

/** What services are composed of, on a Redis of its own and with the agent `echo`, for all tests of a file. */
export async function useParts(settings: SettingsInput = {}): Promise<Parts> {
  const { url } = await useRedis();
  return closeAfterTests(await openTestParts({ redisUrl: url, settings: { agents: { echo: { kind: 'echo' } }, ...settings } }));
}

/** The same, emptied after each test. */
export async function useEmptyParts(settings: SettingsInput = {}): Promise<Parts> {
  const parts = await useParts(settings);
  afterEach(async () => {
    // What is still on its way to Redis would arrive in the next test.
    await parts.cancels.idle();
    await parts.relay.idle();
    await parts.redis.flushall();
  });
  return parts;
}
