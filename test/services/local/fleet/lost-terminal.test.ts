import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** A process starts slowly on a machine with much to do. */
const START_MS = 60_000;
vi.setConfig({ testTimeout: 2 * START_MS });

const redis = await useRedis();
const folder = await useFolder();
const local = (file: string): string => fileURLToPath(new URL(`../../../../services/local/${file}`, import.meta.url));
let fleet: ChildProcess | undefined;
afterEach(() => {
  // Also the processes of its generations.
  if (fleet?.pid !== undefined && fleet.exitCode === null) process.kill(-fleet.pid, 'SIGKILL');
});

it.each([
  ['npm start', 'SIGINT', 1, [local('main.ts')]],
  ['npm start', 'SIGHUP', 1, [local('main.ts')]],
  ['npm run dev', 'SIGHUP', 2, [local('dev/main.ts')]],
  ['npx muster dev', 'SIGINT', 2, [local('muster.mjs'), 'dev']],
] as const)('%s stops in order when nobody reads what it prints any more, after %s', async (command, signal, processes, args) => {
  const data = join(folder, `${command} ${signal}`);
  const env = childEnvironment({ REDIS_URL: redis.url, PORT: '0', SHUTDOWN_GRACE_MS: '2000', MUSTER_DATA_DIR: data });
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  fleet = child;
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await waitFor(() => output.includes('Muster is up.'), { deadlineMs: START_MS, what: 'the fleet to be up' });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  child.stdout.destroy();
  // A terminal sends its signals to all processes of the command.
  process.kill(-(child.pid ?? 0), signal);
  const [code] = await ended;
  const log = join(data, 'logs', 'muster.log');
  const events = existsSync(log) ? readFileSync(log, 'utf8') : '';
  expect(events).toMatch(/"event":"worker\.stopped"[^]*"event":"process\.stopped"/);
  expect(events.match(/process\.stopped/g)).toHaveLength(processes);
  expect(events).not.toContain('process.failed');
  expect(code).toBe(0);
});
