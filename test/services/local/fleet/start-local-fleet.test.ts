import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { startLocalFleet } from '../../../../services/local/fleet/start-local-fleet.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { noFailure } from '../../../support/open-test-parts.ts';
import { startRedis } from '../../../support/redis/start-redis.ts';

interface StartOptions {
  url: string;
  port?: number;
  onNewKey?: (key: string) => void;
  fail?: (error: Error) => void;
}

const start = async ({ url, port = 0, onNewKey = () => undefined, fail = noFailure }: StartOptions): ReturnType<typeof startLocalFleet> =>
  startLocalFleet({
    config: {
      env: environmentSchema.parse({ PORT: port }),
      settings: settingsSchema.parse({}),
      digest: 'test',
      directory: process.cwd(),
      readVariable: () => undefined,
    },
    log: createLog({ level: 'silent', service: 'test' }),
    redis: { start: async () => url, stop: async () => undefined, abandon: () => undefined },
    onNewKey,
    fail,
  });

test('a newer release that takes the data over ends the fleet, which says so', async () => {
  const server = await startRedis();
  const failure = Promise.withResolvers<Error>();
  const fleet = await start({ url: server.url, fail: failure.resolve });
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  try {
    await redis.set(createKeys(1).fleet.installation, '99 1');
    expect((await failure.promise).message).toMatch(/^What is in this Redis was written by a newer Muster/);
  } finally {
    redis.disconnect();
    await fleet.stop(1000);
    await server.stop();
  }
});

test('a first start that fails on a busy port hands over its key all the same, as it is made only once', async () => {
  const server = await startRedis();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  try {
    const first: string[] = [];
    await expect(start({ url: server.url, port, onNewKey: (key) => first.push(key) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(first).toEqual([expect.stringMatching(/^mk_/)]);

    const second: string[] = [];
    const fleet = await start({ url: server.url, onNewKey: (key) => second.push(key) });
    await fleet.stop(1000);
    expect(second).toEqual([]);
  } finally {
    other.close();
    await server.stop();
  }
});
