import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type Config } from '#shared/config/load-config.ts';
import { type SettingsInput, settingsSchema } from '#shared/config/settings/settings.ts';
import { openParts, type Parts } from '#shared/lifecycle/open-parts.ts';
import { createLog } from '#shared/log/create-log.ts';
import { openTraces } from '#shared/log/traces/open-traces.ts';

interface TestPartsOptions {
  redisUrl: string;
  settings?: SettingsInput;
  env?: Record<string, string>;
}

/** A configuration without a file: the settings given, over the defaults. */
async function testConfig({ redisUrl, settings = {}, env = {} }: TestPartsOptions): Promise<Config> {
  const config = await loadConfig(
    { REDIS_URL: redisUrl, LOG_LEVEL: 'silent', MUSTER_DATA_DIR: join(tmpdir(), `muster-test-${randomUUID()}`), ...env },
    '/',
  );
  return { ...config, settings: settingsSchema.parse(settings), directory: process.cwd() };
}

/** What services are composed of, on the Redis of a test. */
export async function openTestParts(options: TestPartsOptions): Promise<Parts> {
  const config = await testConfig(options);
  const log = createLog({ level: config.env.LOG_LEVEL, service: 'test', destination: { write: () => undefined } });
  const traces = await openTraces({ env: config.env, service: 'test', log });
  const parts = await openParts({ config, log, service: 'test', fail: noFailure, traces });
  const close = async (): Promise<void> => {
    await parts.close();
    await traces?.close();
    await rm(config.env.MUSTER_DATA_DIR, { recursive: true, force: true });
  };
  return { ...parts, close };
}

/** For parts of which no test expects that they cannot go on. */
export function noFailure(error: Error): never {
  throw error;
}
