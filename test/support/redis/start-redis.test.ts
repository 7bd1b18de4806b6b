import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { answersPing } from './redis-server.ts';
import { startRedis, type RedisServer, type StartRedisOptions } from './start-redis.ts';
import { childEnvironment } from '../test-environment.ts';
import { useFolder } from '../use-folder.ts';
import { waitFor } from '../wait-for.ts';

const OWNER = fileURLToPath(new URL('redis-owner.ts', import.meta.url));
const folder = await useFolder();
const started: RedisServer[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((redis) => redis.stop()));
});

async function start(options?: StartRedisOptions): Promise<RedisServer> {
  const redis = await startRedis(options);
  started.push(redis);
  return redis;
}

/** Sends one inline command and answers the reply's text. */
async function send(redis: RedisServer, command: string): Promise<string> {
  const socket = connect(redis.port, new URL(redis.url).hostname);
  try {
    socket.write(`${command}\r\n`);
    const [reply] = (await once(socket, 'data', { signal: AbortSignal.timeout(5000) })) as [Buffer];
    return reply.toString().trim();
  } finally {
    socket.destroy();
  }
}

const isUp = (redis: RedisServer): Promise<boolean> => answersPing(new URL(redis.url).hostname, redis.port);

describe('a Redis of a test', () => {
  it('answers once it is started, and no longer once it is stopped', async () => {
    const redis = await start();
    expect(await send(redis, 'PING')).toBe('+PONG');
    await redis.stop();
    expect(await isUp(redis)).toBe(false);
    await redis.stop();
  });

  it('does not share its data with another one', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    await send(one, 'SET a 1');
    expect(await send(two, 'EXISTS a')).toBe(':0');
  });

  it('comes back at the same address with another process and its data after kill -9 when the append-only file is on', async () => {
    const redis = await start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const { pid, port, url } = redis;
    await send(redis, 'SET kept yes');
    await redis.kill('SIGKILL');
    expect(await isUp(redis)).toBe(false);
    await redis.restart();
    expect(await send(redis, 'EXISTS kept')).toBe(':1');
    expect({ port: redis.port, url: redis.url }).toEqual({ port, url });
    expect(redis.pid).not.toBe(pid);
  });

  it('comes back empty after kill -9 when nothing is persisted', async () => {
    const redis = await start();
    await send(redis, 'SET gone yes');
    await redis.kill();
    await redis.restart();
    expect(await send(redis, 'EXISTS gone')).toBe(':0');
  });

  it('says nothing while it is stopped by SIGSTOP, and answers after SIGCONT', async () => {
    const redis = await start();
    await redis.kill('SIGSTOP');
    await expect(waitFor(() => isUp(redis), { deadlineMs: 200, what: 'an answer' })).rejects.toThrow('the last check did not end');
    await redis.kill('SIGCONT');
    expect(await waitFor(() => isUp(redis), { deadlineMs: 5000, what: 'an answer' })).toBe(true);
  });

  it('writes into the folder it is given and leaves that behind', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'muster-redis-test-'));
    try {
      const redis = await start({ dataDir, args: ['--appendonly', 'yes'] });
      await redis.stop();
      expect(await readdir(dataDir)).toContain('appendonlydir');
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('ends with the process that started it, and its data too, also by %s', async (signal) => {
    const parent = await mkdtemp(join(folder, 'parent-'));
    const owner = spawn(process.execPath, [OWNER], { stdio: ['ignore', 'pipe', 'inherit'], env: childEnvironment({ TMPDIR: parent }) });
    const [port] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
    expect(await readdir(parent)).toHaveLength(1);
    owner.kill(signal);
    await once(owner, 'exit');
    const isGone = async (): Promise<boolean> => !(await answersPing('127.0.0.1', Number(port))) && (await readdir(parent)).length === 0;
    await waitFor(isGone, { deadlineMs: 5000, what: 'its Redis and its data to be gone' });
  });

  it('refuses a port that another server has', async () => {
    const redis = await start();
    await expect(start({ port: redis.port })).rejects.toThrow(/did not start|port is already allocated|address already in use/i);
  });
});
