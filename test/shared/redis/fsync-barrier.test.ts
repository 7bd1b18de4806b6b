import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { FsyncBarrier } from '#shared/redis/server/fsync-barrier.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { startWaitaof, type WaitaofServer } from '../../support/redis/waitaof.ts';
import { waitFor } from '../../support/wait-for.ts';

const log = createLog({ level: 'silent', service: 'test' });
const TIMEOUT_MS = 1000;

let redis: RedisServer;
let server: WaitaofServer;
let barrier: FsyncBarrier;

beforeEach(async () => {
  redis = await startRedis();
  server = await startWaitaof(redis.port);
  const open = () => connectRedis({ url: server.url, name: 'test-fsync', log, role: 'blocking' });
  barrier = new FsyncBarrier({ open, keys: createKeys(1), timeoutMs: TIMEOUT_MS });
});
afterEach(async () => {
  server.free();
  barrier.close();
  await server.close();
  await redis.stop();
});

const isAsked = (times: number): Promise<unknown> => waitFor(() => server.waits >= times, { deadlineMs: 5000, everyMs: 2, what: 'a wait' });

/** Whether it ended, without waiting for it. */
function watch(pass: Promise<void>): { readonly outcome: string } {
  const seen = { outcome: 'waits' };
  pass.then(
    () => (seen.outcome = 'passed'),
    () => (seen.outcome = 'failed'),
  );
  return seen;
}

it('passes once the disk has it, and not before', async () => {
  const mark = await barrier.mark();
  server.block();
  const pass = barrier.pass(mark, 0);
  const seen = watch(pass);
  await isAsked(1);
  expect(seen.outcome).toBe('waits');
  server.free();
  await pass;
  expect(seen.outcome).toBe('passed');
});

it('waits once for all that comes while another wait is under way', async () => {
  const mark = await barrier.mark();
  server.block();
  const first = barrier.pass(mark, 0);
  await isAsked(1);
  const others = Array.from({ length: 200 }, () => barrier.pass(mark, 0));
  // Behind so long they do not wait for the first one, whose connection is busy.
  await isAsked(2);
  server.free();
  await Promise.all([first, ...others]);
  expect(server.waits).toBe(2);
});

it('says after its time that it is not known, and goes on', async () => {
  const mark = await barrier.mark();
  server.block();
  await expect(barrier.pass(mark, 0)).rejects.toMatchObject({
    code: 'unavailable.fsync',
    message: `Redis did not confirm that this is on its disk: its disk took longer than ${TIMEOUT_MS} ms. It may have been accepted; send it again with the same key.`,
  });
  server.free();
  await barrier.pass(mark, 0);
});

it('does not trust a server that lost its connection meanwhile', async () => {
  const mark = await barrier.mark();
  await redis.restart();
  await expect(barrier.pass(mark, 0)).rejects.toMatchObject({ code: 'unavailable.fsync' });
  await barrier.pass(await barrier.mark(), 0);
});

it('is not there while Redis is away', async () => {
  await redis.kill();
  await expect(barrier.mark()).rejects.toThrow('Command timed out');
});
