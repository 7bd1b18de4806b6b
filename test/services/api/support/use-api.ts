import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { startApi, type Api } from './start-api.ts';

/** The API on a Redis of its own, for all tests of a file. */
export async function useApi(settings: SettingsInput = {}, env: Record<string, string> = {}): Promise<Api> {
  const { url } = await useRedis();
  return closeAfterTests(await startApi(url, settings, env));
}
