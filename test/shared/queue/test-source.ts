import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import type { Log } from '#shared/log/create-log.ts';
import { openJobSource, type JobSource } from '#shared/queue/consumer/job-source.ts';
import type { Queues } from '#shared/queue/queues.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { noFailure } from '../../support/open-test-parts.ts';

export interface TestSourceOptions {
  url: string;
  queues: Queues;
  log: Log;
  settings?: SettingsInput;
  fail?: (error: Error) => void;
}

/** Where jobs come from, on one shard; the caller closes it. */
export function openTestSource({ url, queues, log, settings = {}, fail = noFailure }: TestSourceOptions): JobSource {
  const config = { settings: settingsSchema.parse(settings), env: { REDIS_URL: url } };
  return openJobSource({ keys: createKeys(1), queues, log, config, fail }, 'test');
}
