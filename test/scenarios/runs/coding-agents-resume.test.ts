import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandPreset } from '#shared/config/agent-definitions.ts';
import { createLog } from '#shared/log/index.ts';
import { connectRedis, type RedisClient } from '#shared/redis/index.ts';
import { placeFakeCoders } from '../../support/agents/coding/fake-coders.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Tries to read the folder of another attempt, and the storage of files. */
const SPY = `
  for file in work/half.txt home/.claude/projects; do cat "$1/$file"; done
  find "$FILES" -type f -exec cat {} +
`;

const isRoot = process.getuid?.() === 0;

function makeRepository(path: string): void {
  const git = (...words: string[]): void => void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', path, ...words]);
  execFileSync('git', ['init', '-q', path]);
  writeFileSync(join(path, 'read.me'), 'Read me.\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
}

const coder = (preset: CommandPreset, command: string[]): object => ({ kind: 'command', preset, command, maxAttempts: 2 });

let folder: string;
let fleet: Fleet;
let redis: RedisClient;
const workers: ServiceProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-coders-'));
  await chmod(folder, 0o755);
  const { claude, codex } = await placeFakeCoders(join(folder, 'bin'));
  makeRepository(join(folder, 'origin'));
  fleet = await openFleet({
    settings: {
      commands: { folder, sessions: { keepEveryMs: 100 } },
      agents: {
        claude: coder('claude-code', claude),
        codex: coder('codex', codex),
        careful: { ...coder('claude-code', claude), permissions: 'ask' },
        builder: { ...coder('claude-code', claude), workspace: { git: join(folder, 'origin') } },
        spy: { kind: 'command', command: ['sh', '-c', `( ${SPY} ) 2>&1; true`, 'sh', '{prompt}'], env: { FILES: join(folder, 'data') } },
      } as never,
      models: { 'claude-fake': { inputUsdPerMTok: 100, outputUsdPerMTok: 0 } },
    },
    // Workers of one installation have one storage of files.
    env: { MUSTER_DATA_DIR: join(folder, 'data') },
  });
  redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  await fleet.start('api');
});
afterAll(async () => {
  redis.disconnect();
  await fleet.stop();
  await rm(folder, { recursive: true, force: true });
});

async function startWorker(): Promise<ServiceProcess> {
  const worker = await fleet.start('worker');
  workers.push(worker);
  return worker;
}

async function killWorkers(): Promise<void> {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
}

const isKept = async (of: string, agent: string): Promise<boolean> =>
  (await redis.hexists(`muster:{s0}:t:default:kept:${of}`, agent)) === 1;

const listArchives = async (): Promise<string[]> =>
  Object.entries(await redis.hgetall('muster:{s0}:t:default:files')).flatMap(([file, text]) =>
    (JSON.parse(text) as { name: string }).name === 'session.tar.gz' ? [file] : [],
  );

/** Sends a message, and gives what the agent says of the conversation that it is in, once it has answered. */
async function say(session: string, agent: string, text: string): Promise<{ turns: string[]; files: string[]; worker: string }> {
  const { body } = await fleet.client.call('POST', `/v1/sessions/${session}/messages`, { body: { text, agent, mode: 'queue' } });
  const [task] = await fleet.client.ended([String(body['id'])], 60_000);
  expect(task).toMatchObject({ status: 'completed' });
  const [attempt] = (await fleet.client.attempts(String(body['id']))).toReversed();
  return { ...(JSON.parse(task?.output ?? '{}') as { turns: string[]; files: string[] }), worker: attempt?.worker ?? '' };
}

/** The one question of a task, once it is open. */
async function askedBy(taskId: string): Promise<string> {
  const read = async (): Promise<string | undefined> => {
    const { body } = await fleet.client.call('GET', `/v1/questions?status=open&taskId=${taskId}`);
    const [first, second] = body['items'] as { id: string }[];
    expect(second).toBeUndefined();
    return first?.id;
  };
  return await waitFor(read, { deadlineMs: 60_000, what: 'the question' });
}

const answer = (question: string, text: string): ReturnType<Fleet['client']['call']> =>
  fleet.client.call('POST', `/v1/questions/${question}/answer`, { body: { answer: text } });

interface UsedView {
  usage: { inputTokens: number; outputTokens: number; costMicroUsd: number };
}

describe('a coding agent', () => {
  it.each(
    firstOf([
      ['claude', { inputTokens: 200, outputTokens: 20, costMicroUsd: 20_000 }],
      // It says what it has used at the end of a turn only, and then of all of its session.
      ['codex', { inputTokens: 2000, outputTokens: 20 }],
    ]),
  )('%s whose worker is killed goes on in its session, and what it used counts once', async (agent, usage) => {
    await startWorker();
    const id = await fleet.client.submit({ agent, input: 'slow work' });
    await waitFor(() => isKept(`task/${id}`, agent), { deadlineMs: 30_000, what: 'the session to be kept' });
    await killWorkers();
    await startWorker();
    // Its second run does not wait, because it is asked otherwise.
    const [task] = await fleet.client.ended([id], 60_000);
    const { turns } = JSON.parse(task?.output ?? '{}') as { turns: string[] };
    expect(turns).toEqual(['slow work', expect.stringMatching(/^This run was interrupted.*slow work$/s)]);
    expect((task as unknown as UsedView).usage).toMatchObject(usage);
    await killWorkers();
  });

  it.each(['codex', 'claude'].slice(0, testEnvironment.isChaos ? 2 : 1))(
    '%s goes on in the same conversation with the next message, on another worker',
    async (agent) => {
      const session = `chat-${agent}`;
      await startWorker();
      const first = await say(session, agent, 'write a.txt');
      await killWorkers();
      await startWorker();
      const second = await say(session, agent, 'write b.txt');
      expect(second.worker).not.toBe(first.worker);
      expect(second.turns).toEqual(['write a.txt', 'write b.txt']);
      expect(second.files).toEqual(['a.txt', 'b.txt']);
      await fleet.client.call('POST', `/v1/sessions/${session}/messages`, { body: { text: '/new' } });
      expect((await say(session, agent, 'hello')).turns).toEqual(['hello']);
      await killWorkers();
    },
  );

  it('has a checkout for a session, which goes on with it on another worker, and what it changed is shown to all but visitors', async () => {
    await startWorker();
    expect((await say('build', 'builder', 'write a.txt')).files).toEqual(['a.txt', 'read.me']);
    await killWorkers();
    await startWorker();
    expect((await say('build', 'builder', 'write read.me')).files).toEqual(['a.txt', 'read.me']);
    const { body } = await fleet.client.call('GET', '/v1/sessions/build');
    expect(body['workspaces']).toEqual([
      expect.objectContaining({ agent: 'builder', changes: expect.stringMatching(/^ a\.txt .*\n read\.me .*\n 2 files changed/) }),
    ]);
    const visitor = await fleet.client.make('/v1/sessions/build/visitors', { name: 'ann' });
    const seen = await fleet.client.call('GET', '/v1/sessions/build', { key: String(visitor['token']) });
    expect([seen.status, seen.body['workspaces']]).toEqual([200, []]);
    await killWorkers();
  });

  it('asks people before it uses a tool, and goes on in the same program with an answer that comes soon', async () => {
    await startWorker();
    const id = await fleet.client.submit({ agent: 'careful', input: 'ask rm -rf build' });
    const question = await askedBy(id);
    const { body: why } = await fleet.client.call('GET', `/v1/tasks/${id}/why`);
    expect(why).toMatchObject({
      status: 'running',
      reasons: [{ gate: 'question', detail: expect.stringContaining('May the agent "careful"') }],
    });
    expect((await answer(question, 'approve')).status).toBe(200);
    expect((await answer(question, 'refuse')).body).toMatchObject({ code: 'question.answered' });
    const [task] = await fleet.client.ended([id], 60_000);
    expect(JSON.parse(task?.output ?? '{}')).toMatchObject({ turns: ['ask rm -rf build'], decisions: [{ behavior: 'allow' }] });
    expect((await fleet.client.attempts(id)).map(({ status }) => status)).toEqual(['success']);
    const stopped = await fleet.client.submit({ agent: 'careful', input: 'ask rm -rf build' });
    const withdrawn = await askedBy(stopped);
    await fleet.client.call('POST', `/v1/tasks/${stopped}/cancel`);
    expect(await fleet.client.ended([stopped], 60_000)).toMatchObject([{ status: 'cancelled' }]);
    expect((await answer(withdrawn, 'approve')).body).toMatchObject({ code: 'question.closed' });
    await killWorkers();
  });

  it('whose worker is killed while people are asked waits for them without a slot, and goes on with the answer on another worker', async () => {
    await startWorker();
    const { body } = await fleet.client.call('POST', '/v1/sessions/careful/messages', {
      body: { text: 'ask rm -rf build', agent: 'careful' },
    });
    const id = String(body['id']);
    const question = await askedBy(id);
    await killWorkers();
    await startWorker();
    await waitFor(async () => (await fleet.client.task(id)).status === 'suspended', {
      deadlineMs: 60_000,
      what: 'the run to be suspended',
    });
    await killWorkers();
    expect(await askedBy(id)).toBe(question);
    await answer(question, 'approve');
    await startWorker();
    const [task] = await fleet.client.ended([id], 60_000);
    expect(JSON.parse(task?.output ?? '{}')).toMatchObject({ files: ['ran.txt'], decisions: [{ behavior: 'allow' }] });
    expect((await fleet.client.attempts(id)).map(({ status }) => status)).toEqual(['interrupted', 'suspended', 'success']);
    // What comes next is no answer.
    expect((await say('careful', 'careful', 'hello')).turns.at(-1)).toBe('hello');
    await killWorkers();
  });

  it('has one archive for a session, however many turns it had', async () => {
    await startWorker();
    // A worker that is killed may leave one that nothing refers to, which is removed when it is checked.
    const before = new Set(await listArchives());
    for (const text of ['one', 'two', 'three']) await say('counted', 'claude', text);
    expect((await listArchives()).filter((file) => !before.has(file))).toHaveLength(1);
    await killWorkers();
  });

  it.runIf(isRoot)('has a folder and an archive that no other attempt can read', async () => {
    await startWorker();
    const slow = await fleet.client.submit({ agent: 'claude', input: 'slow secret' });
    await waitFor(() => isKept(`task/${slow}`, 'claude'), { deadlineMs: 30_000, what: 'the session to be kept' });
    const attempts = (await readdir(folder)).filter((name) => name.startsWith('muster-attempt-'));
    expect(attempts).toHaveLength(1);
    const spy = await fleet.client.submit({ agent: 'spy', input: join(folder, String(attempts[0])) });
    const [task] = await fleet.client.ended([spy], 30_000);
    expect(task?.output?.match(/Permission denied/g)).toHaveLength(3);
    expect(task?.output).not.toContain('slow secret');
    await fleet.client.call('POST', `/v1/tasks/${slow}/cancel`);
    await fleet.client.ended([slow], 30_000);
  });
});
