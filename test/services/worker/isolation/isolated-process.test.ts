import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { readState } from '#shared/ledger/read/read-states.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { IsolatedProcess } from '../../../../services/worker/isolation/isolated-process.ts';
import { IsolationPool } from '../../../../services/worker/isolation/isolation-pool.ts';
import type { ToIsolated } from '../../../../services/worker/isolation/isolation-messages.ts';
import { readJournal } from '../../../support/fleet/journal.ts';
import { startRedisProxy } from '../../../support/fleet/redis-proxy.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

// Processes start in each test, beside other tests.
vi.setConfig({ testTimeout: 60_000 });

const ENTRY = fileURLToPath(new URL('../../../../services/worker/isolation/isolated-main.ts', import.meta.url));
const AGENT = fileURLToPath(new URL('../../../support/fleet/fleet-agent.ts', import.meta.url));
/** Longer than a test: what a process leaves behind shows as a task that still runs. */
const SETTINGS = { agents: { work: { kind: 'function' as const, file: AGENT } }, worker: { leaseMs: 60_000 } };

const { url } = await useRedis();
const folder = await useFolder();
const parts = closeAfterTests(await openTestParts({ redisUrl: url, settings: SETTINGS }));
const config = join(folder, 'muster.config.mjs');
await writeFile(config, `export default ${JSON.stringify(SETTINGS)};\n`);
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function submit(): Promise<string> {
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'work', input: 'hello', context: { workMs: [60_000] } });
  return id;
}

function stateOf(id: string): Promise<TaskState | null> {
  return readState(parts.ledger, 'default', id);
}

/** Starts a process for suspects as a worker does, and sends it a task. */
function startWith(id: string, redisUrl: string): ChildProcess {
  const env = childEnvironment({ MUSTER_CONFIG: config, LOG_LEVEL: 'silent' });
  const child = fork(ENTRY, [String(process.pid)], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.push(child);
  send(child, { kind: 'open', worker: 'tested+1', variables: { REDIS_URL: redisUrl } });
  send(child, { kind: 'run', call: 1, ticket: { tenant: 'default', task: id }, how: {}, isolation: 'own' });
  return child;
}

function send(child: ChildProcess, message: ToIsolated): void {
  child.send(message);
}

function eventsOf(id: string): string[] {
  return readJournal(folder).flatMap(({ task, event }) => (task === id ? [event] : []));
}

it('stops what runs in it and hands it back, uncharged, when its worker is killed, also by a terminal that closes', async () => {
  const id = await submit();
  const child = startWith(id, url);
  await waitFor(() => eventsOf(id).length > 0, { deadlineMs: 45_000, what: 'the task to run' });
  child.kill('SIGHUP');
  // As the system does when the worker is killed.
  child.disconnect();
  await once(child, 'exit');
  expect(await stateOf(id)).toMatchObject({ status: 'queued', spent: 0 });
  expect(eventsOf(id)).toEqual(['start', 'abort']);
});

it('hands back, uncharged, what it was claiming when it was to end', async () => {
  const id = await submit();
  const proxy = await startRedisProxy(Number(new URL(url).port));
  onTestFinished(() => proxy.close());
  proxy.loseAnswerTo((sent) => sent.includes(id));
  const child = startWith(id, proxy.url);
  await waitFor(async () => (await stateOf(id))?.status === 'running', { deadlineMs: 45_000, what: 'the claim to be done' });
  send(child, { kind: 'close' });
  // Its answer shows that the message before it was received.
  send(child, { kind: 'run', call: 2, ticket: { tenant: 'default', task: id }, how: {}, isolation: 'own' });
  await Promise.race([once(child, 'message'), once(child, 'exit')]);
  const exited = child.exitCode === null ? once(child, 'exit') : null;
  proxy.repair();
  await exited;
  expect(await stateOf(id)).toMatchObject({ status: 'queued', spent: 0 });
  expect(eventsOf(id)).toEqual([]);
});

interface TestPool {
  pool: IsolationPool;
  opened: IsolatedProcess[];
}

/** A pool whose processes stand still until they are continued. */
function openPool(worker: Partial<typeof parts.settings.worker>): TestPool {
  const opened: IsolatedProcess[] = [];
  const pool = new IsolationPool({
    settings: { ...parts.settings, worker: { ...parts.settings.worker, ...worker } },
    open: (number) => {
      const variables = { REDIS_URL: url, MUSTER_CONFIG: config };
      const options = { worker: `slow+${number}`, variables, heapMb: undefined, onWaiting: () => undefined, log: parts.log };
      const process = new IsolatedProcess(options);
      opened.push(process);
      signal(process, 'SIGSTOP');
      return process;
    },
    expire: () => Promise.resolve(true),
    log: parts.log,
  });
  onTestFinished(() => pool.stop());
  return { pool, opened };
}

function signal({ pid = 0 }: IsolatedProcess, name: NodeJS.Signals): void {
  process.kill(pid, name);
}

it('counts against the bound of such processes for as long as it starts, however long that takes', async () => {
  const { pool, opened } = openPool({ isolatedProcesses: 1, probationMs: 100 });
  const running = pool.run({ tenant: 'default', task: 'not-there' }, {}, 2);
  await delay(300);
  expect(pool.hasRoom).toBe(false);
  for (const each of opened) signal(each, 'SIGCONT');
  await running;
  expect([pool.hasRoom, opened.length]).toEqual([true, 1]);
});

it('ends before it is loaded when its worker is gone', async () => {
  const child = fork(ENTRY, ['0'], { cwd: folder, env: childEnvironment(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.push(child);
  let said = 0;
  child.on('message', () => (said += 1));
  expect([(await once(child, 'exit'))[0], said]).toEqual([1, 0]);
});

it('is kept ready once while suspects may come, which wait for it without a place', async () => {
  const { pool, opened } = openPool({ isolatedIdleMs: 100 });
  expect(pool.hasRoom).toBe(true);
  pool.expect(true);
  pool.expect(true);
  expect([pool.hasRoom, opened.length]).toEqual([false, 1]);
  for (const each of opened) signal(each, 'SIGCONT');
  await waitFor(() => pool.hasRoom, { deadlineMs: 20_000, what: 'the process to be ready' });
  await pool.run({ tenant: 'default', task: 'not-there' }, {}, 1);
  await delay(300);
  expect([opened[0]?.ended, opened.length]).toEqual([null, 1]);
});

it('is followed by another once it is full, and has no part in the starts of those that need one each', async () => {
  const { pool, opened } = openPool({ suspectsPerProcess: 1, isolatedProcesses: 3 });
  pool.expect(true);
  const shared = pool.run({ tenant: 'default', task: 'not-there' }, {}, 1);
  expect(opened.length).toBe(2);
  const own = [pool.run({ tenant: 'default', task: 'not-there' }, {}, 2), pool.run({ tenant: 'default', task: 'not-there' }, {}, 2)];
  expect([pool.hasRoom, opened.length]).toEqual([false, 3]);
  for (const each of opened) signal(each, 'SIGCONT');
  await Promise.all([shared, ...own]);
});

it('ends when no suspect comes and none is expected any more, as in a drain', async () => {
  const { pool, opened } = openPool({ isolatedIdleMs: 100 });
  pool.expect(true);
  pool.expect(false);
  for (const each of opened) signal(each, 'SIGCONT');
  await waitFor(() => opened[0]?.ended !== null, { deadlineMs: 40_000, what: 'the process to end' });
  pool.drain();
  pool.expect(true);
  expect([pool.hasRoom, opened.length]).toEqual([true, 1]);
});

it('is not kept ready where none is to be kept', () => {
  const { pool, opened } = openPool({ isolatedIdleMs: 0 });
  pool.expect(true);
  expect(opened).toEqual([]);
});
