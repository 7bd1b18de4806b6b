import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { COMMAND_TIMEOUT_MS, connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { isRedisUnavailable } from '#shared/redis/availability.ts';
import { refusalOf } from '#shared/redis/refusals.ts';
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

  it.each([
    ['LOADING', 'LOADING Redis is loading the dataset in memory'],
    ['MISCONF', 'MISCONF Errors writing to the AOF file: No space left on device'],
    ['NOREPLICAS', 'NOREPLICAS Not enough good replicas to write. script: 6cb2, on @user_script:1.'],
    // On Redis 6, from within a script.
    [
      'OOM',
      "ERR Error running script (call to f_6c4c): @user_script:215: @user_script: 215: -OOM command not allowed when used memory > 'maxmemory'.",
    ],
    [
      'READONLY',
      "ERR Error running script (call to f_1028): @user_script:4: @user_script: 4: -READONLY You can't write against a read only replica.",
    ],
    ['MASTERDOWN', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
    ['CLUSTERDOWN', 'CLUSTERDOWN The cluster is down'],
    ['MOVED', 'MOVED 299 127.0.0.1:40607'],
    ['ASK', 'ASK 299 127.0.0.1:40607'],
    ['TRYAGAIN', 'TRYAGAIN Multiple keys request during rehashing of slot'],
    ['BUSY', 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'],
    ['UNBLOCKED', 'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)'],
    ['NOAUTH', 'NOAUTH Authentication required.'],
    ['WRONGPASS', 'WRONGPASS invalid username-password pair or user is disabled.'],
    ['WRONGPASS', 'ERR invalid password'],
    ['NOPERM', "NOPERM this user has no permissions to run the 'set' command"],
    ['NOPERM', "ERR The user executing the script can't run this command or subcommand script: 6cb2, on @user_script:1."],
    ['DENIED', 'DENIED Redis is running in protected mode because protected mode is enabled'],
    ['MAXCLIENTS', 'ERR max number of clients reached'],
    ['MAXCLIENTS', 'ERR max number of clients + cluster connections reached'],
    ['QUOTA', 'ERR max requests limit exceeded. Limit: 500000, Usage: 500000.'],
    ['QUOTA', 'ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.'],
    ['QUOTA', 'ERR max concurrent connections exceeded'],
  ])('when it refuses: %s, "%s"', (word, message) => {
    expect(refusalOf(new Error(message))?.word).toBe(word);
    expect(isRedisUnavailable(new Error(message))).toBe(true);
    const transaction = new Error('EXECABORT Transaction discarded because of previous errors.');
    expect(refusalOf(Object.assign(transaction, { previousErrors: [new Error(message)] }))?.word).toBe(word);
  });

  it.each([
    'Too many Cluster redirections. Last error: Error: Command timed out',
    'All keys in the pipeline should belong to the same slots allocation group',
  ])('while slots of a cluster move: "%s"', (message) => {
    expect(isRedisUnavailable(new Error(message))).toBe(true);
  });

  it.each([
    'WRONGTYPE Operation against a key',
    'BUSYGROUP Consumer Group name already exists',
    'NOSCRIPT No matching script',
    'ERR syntax error',
  ])('and not when it answers "%s"', (message) => {
    expect(isRedisUnavailable(new Error(message))).toBe(false);
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
