import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { COMMAND_TIMEOUT_MS, connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { isRedisUnavailable } from '#shared/redis/availability.ts';
import { freePort } from '../../support/free-port.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const connect = (url: string): RedisClient => {
  const redis = connectRedis({ url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  cleanUps.push(() => redis.disconnect());
  return redis;
};

const errorOf = async (call: Promise<unknown>): Promise<unknown> =>
  await call.then(
    () => 'it answered',
    (error: unknown) => error,
  );

/** How a command fails: as what, and whether in time for a producer's answer. */
const failure = async (call: () => Promise<unknown>): Promise<string> => {
  const from = performance.now();
  const error = await errorOf(call());
  const inTime = performance.now() - from < COMMAND_TIMEOUT_MS + 400 ? 'in time' : 'too late';
  return isRedisUnavailable(error) ? `unavailable, ${inTime}` : String(error);
};
const UNAVAILABLE = 'unavailable, in time';

describe('Redis counts as unavailable', () => {
  it('when no server listens at its address', async () => {
    const redis = connect(`redis://127.0.0.1:${await freePort()}`);
    expect(await failure(() => redis.get('a'))).toBe(UNAVAILABLE);
  });

  it('when the link is half open and nothing comes back', async () => {
    const sockets: Socket[] = [];
    const silent: Server = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    cleanUps.push(() => {
      sockets.forEach((socket) => socket.destroy());
      silent.close();
    });
    const redis = connect(`redis://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    expect(await failure(() => redis.get('a'))).toBe(UNAVAILABLE);
  });

  it('when it is frozen in the middle of our work', async () => {
    const server = await startRedis();
    cleanUps.push(() => server.stop());
    const redis = connect(server.url);
    await redis.set('a', '1');
    await server.kill('SIGSTOP');
    expect(await failure(() => redis.get('a'))).toBe(UNAVAILABLE);
  });

  it('when our connection was closed', async () => {
    const server = await startRedis();
    cleanUps.push(() => server.stop());
    const redis = connect(server.url);
    await redis.set('a', '1');
    redis.disconnect();
    expect(await failure(() => redis.get('a'))).toBe(UNAVAILABLE);
  });

  it('when it has no memory left to write to', async () => {
    const server = await startRedis({ args: ['--maxmemory', '1mb'] });
    cleanUps.push(() => server.stop());
    const redis = connect(server.url);
    expect(await failure(() => redis.set('a', 'x'.repeat(2_000_000)).then(() => redis.set('b', 'x')))).toBe(UNAVAILABLE);
  });

  it('and not when we made a mistake', async () => {
    const server = await startRedis();
    cleanUps.push(() => server.stop());
    const redis = connect(server.url);
    await redis.set('a', 'text');
    expect(isRedisUnavailable(await errorOf(redis.hget('a', 'b')))).toBe(false);
    expect(isRedisUnavailable(await errorOf(redis.eval('return redis.nothing()', 0)))).toBe(false);
    expect(isRedisUnavailable(new Error('something else'))).toBe(false);
    expect(isRedisUnavailable('ECONNREFUSED')).toBe(false);
  });
});

describe('a connection for commands', () => {
  it('is useful again soon after its server’s return', async () => {
    const server = await startRedis();
    cleanUps.push(() => server.stop());
    const redis = connect(server.url);
    await redis.set('a', '1');
    await server.kill();
    await errorOf(redis.get('a'));
    await server.restart();
    await waitFor(async () => (await errorOf(redis.set('a', '2'))) === 'it answered', { deadlineMs: 5000, what: 'an answer' });
    expect(await redis.get('a')).toBe('2');
  });
});
