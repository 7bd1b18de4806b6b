import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { startLocalFleet } from '../../../../services/local/fleet/start-local-fleet.ts';
import { noFailure } from '../../../support/open-test-parts.ts';
import { startRedis } from '../../../support/redis/start-redis.ts';

test('a first start that fails on a busy port hands over its key all the same, as it is made only once', async () => {
  const server = await startRedis();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const start = async (portNumber: number, keys: string[]): ReturnType<typeof startLocalFleet> =>
    startLocalFleet({
      config: {
        env: environmentSchema.parse({ PORT: portNumber }),
        settings: settingsSchema.parse({}),
        digest: 'test',
        directory: process.cwd(),
        readVariable: () => undefined,
      },
      log: createLog({ level: 'silent', service: 'test' }),
      redis: { start: async () => server.url, stop: async () => undefined, abandon: () => undefined },
      onNewKey: (key) => keys.push(key),
      fail: noFailure,
    });
  try {
    const first: string[] = [];
    await expect(start(port, first)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(first).toEqual([expect.stringMatching(/^mk_/)]);

    const second: string[] = [];
    const fleet = await start(0, second);
    await fleet.stop(1000);
    expect(second).toEqual([]);
  } finally {
    other.close();
    await server.stop();
  }
});
