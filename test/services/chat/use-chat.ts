import { afterAll } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import type { FakePlatform } from '../../support/chat/fake-platform.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { startChat, startFakePlatforms, type FakePlatforms, type RunningChat } from './running-chat.ts';

/** A fake of each platform, for all tests of a file. */
export async function useFakePlatforms(): Promise<FakePlatforms> {
  const fakes = await startFakePlatforms();
  afterAll(async () => {
    await Promise.all(Object.values(fakes).map((fake: FakePlatform) => fake.close()));
  });
  return fakes;
}

/** The chat service on a Redis of its own, for all tests of a file. */
export async function useChat(env: Record<string, string>, settings: SettingsInput = {}): Promise<RunningChat> {
  const { url } = await useRedis();
  return closeAfterTests(await startChat(url, env, settings));
}
