import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callApi, type Reply } from '../../support/call-api.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { childEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const MAIN = resolve(import.meta.dirname, '../../../services/local/dev/main.ts');
const KEY = 'admin-of-a-reload-test';
/** A process starts slowly on a machine with much to do. */
const START_MS = 90_000;

const folder = await useFolder();
const file = (name: string): string => join(folder, name);
let redis: RedisServer;
let fleet: ChildProcess;
let output = '';

beforeAll(async () => {
  redis = await startRedis();
  writeFileSync(file('muster.config.ts'), configOf('function'));
  writeFileSync(file('words.ts'), "export const word = 'one';\n");
  writeFileSync(file('agent.ts'), AGENT);
  const env = childEnvironment({
    REDIS_URL: redis.url,
    PORT: '0',
    SHUTDOWN_GRACE_MS: '2000',
    MUSTER_DATA_DIR: file('data'),
    MUSTER_CONFIG: file('muster.config.ts'),
    MUSTER_ADMIN_KEY: KEY,
  });
  fleet = spawn(process.execPath, [MAIN], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [fleet.stdout, fleet.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
});
afterAll(async () => {
  if (fleet.exitCode === null) {
    fleet.kill('SIGTERM');
    await once(fleet, 'exit');
  }
  await redis.stop();
});

function configOf(kind: string): string {
  return [
    "import { defineConfig } from 'muster/config';",
    'export default defineConfig({',
    '  agents: {',
    `    author: { kind: '${kind}', file: './agent.ts' },`,
    '  },',
    '});',
    '',
  ].join('\n');
}

/** It answers with its version: for the input `wait` once there is a file. */
const AGENT = `
import { existsSync, watch } from 'node:fs';
import { word } from './words.ts';
const release = new URL('release', import.meta.url);
const released = () => new Promise((resolve) => {
  const watcher = watch(new URL('.', import.meta.url), () => existsSync(release) && (watcher.close(), resolve(undefined)));
  if (existsSync(release)) resolve(undefined);
});
export const run = async (task: { input: string }) => {
  if (task.input === 'throw') throw new Error('a mistake of the author');
  const began = word;
  if (task.input === 'wait') await released();
  return began;
};
`;

/** A generation that retires closes its connections, also one that a request is about to use. */
const call = (path: string, body?: object): Promise<Reply['body']> =>
  waitFor(() => request(path, body), { deadlineMs: START_MS, what: `an answer of ${path}` });

async function request(path: string, body?: object): Promise<Reply['body']> {
  const [, url = ''] = /API +(http:\S+)\/v1/.exec(output) ?? [];
  const reply = await callApi(body ? 'POST' : 'GET', `${url}/v1${path}`, { key: KEY, body });
  return reply.body;
}

const send = (input: string, query = ''): Promise<Reply['body']> =>
  call(`/tasks${query}`, { agent: 'author', input, execution: { maxAttempts: 1 } });

const printed = (text: string): Promise<string> =>
  waitFor(() => (output.includes(text) ? output : null), { deadlineMs: START_MS, what: `the terminal to show "${text}"` }).catch(
    (cause: unknown) => {
      throw new Error(`The terminal did not show "${text}":\n${output}`, { cause });
    },
  );

async function answerOf(input: string): Promise<Reply['body']> {
  const { id } = await send(input, '?waitMs=20000');
  return await ended(id);
}

const ended = (id: string): Promise<Reply['body']> =>
  waitFor(
    async () => {
      const task = await call(`/tasks/${id}`);
      return ['completed', 'permanently_failed'].includes(task.status) ? task : null;
    },
    { deadlineMs: START_MS, what: `task ${id} to end`, everyMs: 50 },
  );

test('saved agents run new tasks, what runs ends in its own version, and a mistake changes nothing', async () => {
  await printed('Muster is up.');
  const first = await send('wait');
  await waitFor(async () => (await call(`/tasks/${first.id}`)).status === 'running', {
    deadlineMs: START_MS,
    what: 'the first task to run',
  });

  writeFileSync(file('muster.config.ts'), configOf('functoin'));
  await printed(`${file('muster.config.ts')}:4: agents.author.kind: `);
  await printed("Expected 'echo' | 'function'");
  await printed('The fleet goes on as it was');
  expect((await answerOf('which')).output).toBe('one');

  writeFileSync(file('words.ts'), "export const word = 'two';\n");
  writeFileSync(file('muster.config.ts'), configOf('function'));
  await printed('Reloaded');
  const { output: second } = await waitFor(
    async () => {
      const task = await answerOf('which');
      return task.output === 'two' ? task : null;
    },
    { deadlineMs: START_MS, what: 'the new version to answer' },
  );
  expect(second).toBe('two');

  const failed = await answerOf('throw');
  expect(failed.error.details.sourceCode).toContain(`${file('agent.ts')}:10\n`);
  expect(failed.error.details.sourceCode).toContain("> 10 |   if (task.input === 'throw') throw");

  expect((await call(`/tasks/${first.id}`)).status).toBe('running');
  writeFileSync(file('release'), '');
  expect(await ended(first.id)).toMatchObject({ status: 'completed', output: 'one' });
  expect((await call(`/tasks/${first.id}/attempts`)).items).toHaveLength(1);

  fleet.kill('SIGTERM');
  expect(await once(fleet, 'exit')).toEqual([0, null]);
  expect(readFileSync(join(folder, 'data', 'logs', 'muster.log'), 'utf8')).toContain('process.stopped');
}, 300_000);
