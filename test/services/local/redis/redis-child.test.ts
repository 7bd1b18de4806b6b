import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { isStillRunning, processStart } from '../../../../services/local/fleet/process-start.ts';
import { RedisChild, type RedisChildOptions } from '../../../../services/local/redis/redis-child.ts';
import { findRedisProgram, readRedisRecord } from '../../../../services/local/redis/redis-program.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startFixture } from '../fixtures/start-fixture.ts';

const path = childEnvironment()['PATH'] ?? '';
const log = createLog({ level: 'silent', service: 'test' });

let directory: string;
let closing: (() => void | Promise<void>)[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'muster-redis-'));
  closing = [];
});

afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  rmSync(directory, { recursive: true, force: true });
});

function newChild(changed: Partial<RedisChildOptions> = {}): RedisChild {
  const program = findRedisProgram(path);
  if (!program) throw new Error('There is no redis-server on the PATH');
  const child = new RedisChild({ directory, logFile: join(directory, 'redis.log'), program, log, ...changed });
  closing.push(() => child.stop(2000));
  return child;
}

function client(url: string): RedisClient {
  const redis = connectRedis({ url, name: 'test', log });
  closing.push(() => redis.disconnect());
  return redis;
}

async function setting(redis: RedisClient, name: string): Promise<unknown> {
  const reply = (await redis.call('CONFIG', 'GET', name)) as string[];
  return reply[1];
}

test('a Redis that is started listens on a socket of its owner only, and persists and evicts as the promises need', async () => {
  const child = newChild();
  await child.start();
  expect(child.url).toBe(`unix://${directory}/redis.sock`);
  expect(statSync(join(directory, 'redis.sock')).mode & 0o777).toBe(0o700);
  const redis = client(child.url);
  expect(await setting(redis, 'appendonly')).toBe('yes');
  expect(await setting(redis, 'appendfsync')).toBe('everysec');
  expect(await setting(redis, 'maxmemory-policy')).toBe('noeviction');
  expect(await setting(redis, 'port')).toBe('0');
  expect(await setting(redis, 'dir')).toBe(directory);
});

test('a directory whose path has spaces and quotes works', async () => {
  const odd = join(directory, 'a "b" #c');
  mkdirSync(odd);
  const child = newChild({ directory: odd });
  await child.start();
  expect(await client(child.url).ping()).toBe('PONG');
});

test('a path too long for a socket makes it listen on a port of this machine, behind a password', async () => {
  const deep = join(directory, 'd'.repeat(60), 'e'.repeat(60));
  mkdirSync(deep, { recursive: true });
  const child = newChild({ directory: deep });
  await child.start();
  expect(child.url).toMatch(/^redis:\/\/:[0-9a-f]{48}@127\.0\.0\.1:\d+$/);
  expect(await client(child.url).ping()).toBe('PONG');
  expect(await sayToPort(Number(new URL(child.url).port), 'PING')).toContain('NOAUTH');
  const commandLine = execFileSync('ps', ['-o', 'args=', '-p', String(child.pid)], { encoding: 'utf8' });
  expect(commandLine).not.toContain(new URL(child.url).password);
});

test('it is in a process group of its own, so that Ctrl-C in the terminal does not reach it', async () => {
  const child = newChild();
  await child.start();
  const group = execFileSync('ps', ['-o', 'pgid=', '-p', String(child.pid)], { encoding: 'utf8' }).trim();
  expect(Number(group)).toBe(child.pid);
});

test('stop ends its process, and what was written is there after the next start', async () => {
  const first = newChild();
  await first.start();
  await client(first.url).set('kept', 'yes');
  const pid = first.pid ?? 0;
  await first.stop(2000);
  expect(processStart(pid)).toBeNull();
  expect(readRedisRecord(directory)).toBeNull();

  const second = newChild();
  await second.start();
  expect(await client(second.url).get('kept')).toBe('yes');
});

test('stop kills a Redis that does not react within the grace', async () => {
  const child = newChild();
  await child.start();
  const pid = child.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  await child.stop(100);
  expect(processStart(pid)).toBeNull();
});

test('a Redis that is killed comes back at the same address with what was written', async () => {
  const child = newChild();
  await child.start();
  const redis = client(child.url);
  await redis.set('kept', 'yes');
  const killed = child.pid ?? 0;
  process.kill(killed, 'SIGKILL');
  await waitFor(() => child.pid !== killed && processStart(child.pid ?? 0) !== null, { deadlineMs: 5000, what: 'another Redis' });
  expect(await waitFor(() => redis.get('kept'), { deadlineMs: 5000, what: 'an answer' })).toBe('yes');
});

test('a Redis that is killed again and again is started each time, until the fleet stops', async () => {
  const child = newChild();
  await child.start();
  for (let round = 0; round < 3; round += 1) {
    const killed = child.pid ?? 0;
    process.kill(killed, 'SIGKILL');
    await waitFor(() => child.pid !== killed, { deadlineMs: 5000, what: 'another Redis' });
  }
  const last = child.pid ?? 0;
  await child.stop(2000);
  expect(processStart(last)).toBeNull();
});

test('a Redis whose fleet was killed is taken over with its data, not started a second time', async () => {
  const parent = await startFixture('redis-parent.ts', [directory, path]);
  const { url, pid } = JSON.parse(parent.line) as { url: string; pid: number };
  await client(url).set('kept', 'yes');
  await parent.kill();
  expect(processStart(pid)).not.toBeNull();

  const child = newChild();
  await child.start();
  expect(child.pid).toBe(pid);
  expect(await client(child.url).get('kept')).toBe('yes');
  await child.stop(2000);
  expect(processStart(pid)).toBeNull();
});

test('one that was taken over is started again when it dies', async () => {
  const parent = await startFixture('redis-parent.ts', [directory, path]);
  await parent.kill();
  const child = newChild();
  await child.start();
  const killed = child.pid ?? 0;
  process.kill(killed, 'SIGKILL');
  await waitFor(() => child.pid !== killed, { deadlineMs: 5000, what: 'another Redis' });
  const redis = client(child.url);
  expect(await waitFor(() => redis.ping(), { deadlineMs: 5000, what: 'an answer' })).toBe('PONG');
});

test('a Redis that a killed fleet did not note down is found by its socket', async () => {
  const parent = await startFixture('redis-parent.ts', [directory, path]);
  const { pid } = JSON.parse(parent.line) as { pid: number };
  await parent.kill();
  rmSync(join(directory, 'server.json'));
  const child = newChild();
  await child.start();
  expect(child.pid).toBe(pid);
});

test('a Redis that another fleet left and that does not answer is ended before a new one starts', async () => {
  const parent = await startFixture('redis-parent.ts', [directory, path]);
  const { pid } = JSON.parse(parent.line) as { pid: number };
  await parent.kill();
  const left = { pid, startedAt: processStart(pid) ?? '' };
  process.kill(pid, 'SIGSTOP');
  const child = newChild({ silenceMs: 2000 });
  await child.start();
  expect(isStillRunning(left)).toBe(false);
  expect(await client(child.url).ping()).toBe('PONG');
});

test('what a machine that lost power leaves behind (record, socket, pid file) does not stand in the way', async () => {
  writeFileSync(
    join(directory, 'server.json'),
    JSON.stringify({ pid: process.pid, startedAt: 'another time', address: { kind: 'socket', path: join(directory, 'redis.sock') } }),
  );
  writeFileSync(join(directory, 'redis.sock'), '');
  writeFileSync(join(directory, 'redis.pid'), String(process.pid));
  const child = newChild();
  await child.start();
  expect(await client(child.url).ping()).toBe('PONG');
});

test('a Redis that cannot start gives the end of its log', async () => {
  mkdirSync(join(directory, 'appendonlydir'));
  writeFileSync(join(directory, 'appendonlydir', 'appendonly.aof.manifest'), 'this is no manifest\n');
  await expect(newChild().start()).rejects.toMatchObject({
    code: 'unavailable.redis',
    message: expect.stringMatching(/redis\.log.*\n.*manifest/is),
  });
});

test('a program that cannot be run is an error of the start, not of the process', async () => {
  const file = join(directory, 'redis-server');
  writeFileSync(file, 'not a program');
  chmodSync(file, 0o600);
  await expect(newChild({ program: { kind: 'server', file } }).start()).rejects.toMatchObject({ code: 'EACCES' });
});

test('its record can be read by its owner only', async () => {
  await newChild().start();
  expect(statSync(join(directory, 'server.json')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, 'server.json'), 'utf8')).toContain('redis.sock');
});

function sayToPort(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(`${text}\r\n`));
    socket.once('data', (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
