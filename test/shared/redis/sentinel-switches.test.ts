import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { freePort } from '../../support/free-port.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';
import { endWithParent } from '../../support/runner/end-with-parent.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const SOON = { deadlineMs: 30_000, everyMs: 50 };
/** The Sentinels would make the old primary a replica after eight. */
const FOLLOWS_MS = 4000;

const primary = await useRedis();
const replica = await useRedis({ args: ['--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'] });
const folder = await useFolder('muster-sentinel-');
const port = await freePort();
await writeFile(join(folder, 's.conf'), `port ${port}\nbind 127.0.0.1\nsentinel monitor mymaster 127.0.0.1 ${primary.port} 1\n`);
const child = spawn(testEnvironment.redisServer, [join(folder, 's.conf'), '--sentinel'], { stdio: 'ignore' });
endWithParent(child);
afterAll(async () => {
  child.kill('SIGKILL');
  await once(child, 'exit');
});

const log = createLog({ level: 'silent', service: 'test' });
const sentinel = await useRedisClient({ ...primary, url: `redis://127.0.0.1:${port}` });
const redis = connectRedis({ url: `redis+sentinel://127.0.0.1:${port}/mymaster`, name: 'test', log });
afterAll(() => redis.disconnect());
const direct = await useRedisClient(replica);

const knowsReplica = async (): Promise<boolean> =>
  String(await sentinel.call('SENTINEL', 'REPLICAS', 'mymaster')).includes(`${replica.port}`);

it('a connection leaves a primary that still takes writes as soon as there is another one', async () => {
  await waitFor(knowsReplica, { ...SOON, what: 'the Sentinel to know the replica' });
  await waitFor(async () => (await direct.info('replication')).includes('master_link_status:up'), {
    ...SOON,
    what: 'the replica to follow',
  });
  await redis.set('written', 'before');
  // Until the Sentinel would promote it.
  await waitFor(() => sentinel.call('SENTINEL', 'FAILOVER', 'mymaster'), { ...SOON, what: 'a failover to begin' });
  const isWrittenToTheNewOne = async (): Promise<boolean> => {
    await redis.set('written', 'after').catch(() => undefined);
    return (await direct.info('replication')).includes('role:master') && (await direct.get('written')) === 'after';
  };
  await waitFor(async () => (await direct.info('replication')).includes('role:master'), { ...SOON, what: 'the replica to be promoted' });
  await waitFor(isWrittenToTheNewOne, { deadlineMs: FOLLOWS_MS, everyMs: 50, what: 'the new primary to be written to' });
  expect(await direct.get('written')).toBe('after');
});
