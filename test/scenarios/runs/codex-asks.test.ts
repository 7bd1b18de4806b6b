import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { placeFakeCoders } from '../../support/agents/coding/fake-coders.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { waitFor } from '../../support/wait-for.ts';

let folder: string;
let fleet: Fleet;
const workers: ServiceProcess[] = [];

/** People have so long to answer while Codex runs. */
async function openCoders(permissionWaitMs: number): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'muster-codex-'));
  await chmod(folder, 0o755);
  const { codexServer } = await placeFakeCoders(join(folder, 'bin'));
  const coder = { kind: 'command', preset: 'codex', command: [...codexServer, '-a', 'untrusted'], permissions: 'ask', maxAttempts: 2 };
  fleet = await openFleet({
    settings: {
      commands: { folder, permissionWaitMs, sessions: { keepEveryMs: 100 } },
      agents: { patient: coder } as never,
      models: { 'gpt-fake': { inputUsdPerMTok: 100, outputUsdPerMTok: 0 } },
    },
    // Workers of one installation have one storage of files.
    env: { MUSTER_DATA_DIR: join(folder, 'data') },
  });
  await fleet.start('api');
}

async function closeCoders(): Promise<void> {
  await fleet.stop();
  await rm(folder, { recursive: true, force: true });
}

afterEach(killWorkers);

async function startWorker(): Promise<void> {
  workers.push(await fleet.start('worker'));
}

async function killWorkers(): Promise<void> {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
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

interface Ended {
  readonly output: { readonly turns: string[]; readonly files: string[]; readonly decisions: string[] };
  readonly usage: { readonly inputTokens: number; readonly costMicroUsd: number };
  readonly attempts: (string | undefined)[];
}

async function endOf(id: string): Promise<Ended> {
  const [task] = await fleet.client.ended([id], 60_000);
  expect(task).toMatchObject({ status: 'completed' });
  const { usage } = task as unknown as Pick<Ended, 'usage'>;
  const attempts = (await fleet.client.attempts(id)).map(({ status }) => status);
  return { output: JSON.parse(task?.output ?? '{}') as Ended['output'], usage, attempts };
}

async function say(session: string, text: string): Promise<string> {
  const { body } = await fleet.client.call('POST', `/v1/sessions/${session}/messages`, { body: { text, agent: 'patient', mode: 'queue' } });
  return String(body['id']);
}

const isSuspended = (id: string): Promise<boolean> =>
  waitFor(async () => (await fleet.client.task(id)).status === 'suspended', { deadlineMs: 60_000, what: 'the run to be suspended' });

/** One call of its model for the command, one for the answer, one of an agent that it starts; each at 100 tokens. */
const USED = { inputTokens: 300, costMicroUsd: 30_000 };

describe('Codex with permissions', () => {
  beforeAll(() => openCoders(60_000));
  afterAll(closeCoders);

  it('asks people before it runs a command, and goes on in the same program with an answer that comes soon', async () => {
    await startWorker();
    const id = await fleet.client.submit({ agent: 'patient', input: 'ask rm -rf build then ls' });
    const question = await askedBy(id);
    const { body: why } = await fleet.client.call('GET', `/v1/tasks/${id}/why`);
    expect(why).toMatchObject({
      status: 'running',
      reasons: [{ gate: 'question', detail: expect.stringContaining('May the agent "patient" use shell with this?') }],
    });
    expect((await answer(question, 'approve')).status).toBe(200);
    expect((await answer(question, 'refuse')).body).toMatchObject({ code: 'question.answered' });
    const next = await waitFor(
      async () => {
        const open = await askedBy(id);
        return open === question ? undefined : open;
      },
      { deadlineMs: 60_000, what: 'the next question' },
    );
    expect((await answer(next, 'refuse')).status).toBe(200);
    const { output, attempts, usage } = await endOf(id);
    expect(output).toMatchObject({ turns: ['ask rm -rf build then ls'], decisions: ['accept', 'decline'] });
    expect(attempts).toEqual(['success']);
    expect(usage).toMatchObject({ inputTokens: 400, costMicroUsd: 40_000 });
  });

  it('whose worker is killed while people are asked waits for them without a slot, and goes on with the answer on another worker', async () => {
    await startWorker();
    const id = await say('killed', 'ask rm -rf build');
    const question = await askedBy(id);
    await killWorkers();
    await startWorker();
    await isSuspended(id);
    await killWorkers();
    expect(await askedBy(id)).toBe(question);
    await answer(question, 'approve');
    await startWorker();
    const { output, attempts, usage } = await endOf(id);
    expect(output).toMatchObject({ files: ['ran.txt'], decisions: ['accept'] });
    expect(attempts).toEqual(['interrupted', 'suspended', 'success']);
    // What Codex had not counted when it was killed, nobody can.
    expect(usage).toMatchObject(USED);
    // What comes next is no answer, and is in the same conversation.
    await killWorkers();
    await startWorker();
    const { output: later } = await endOf(await say('killed', 'hello'));
    expect([later.turns[0], later.turns.at(-1)]).toEqual(['ask rm -rf build', 'hello']);
    expect(later.files).toEqual(['ran.txt']);
  });

  it('is stopped while people are asked, and the question goes with it', async () => {
    await startWorker();
    const id = await fleet.client.submit({ agent: 'patient', input: 'ask rm -rf build' });
    const withdrawn = await askedBy(id);
    await fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
    expect(await fleet.client.ended([id], 60_000)).toMatchObject([{ status: 'cancelled' }]);
    expect((await answer(withdrawn, 'approve')).body).toMatchObject({ code: 'question.closed' });
  });
});

describe('Codex whom nobody answers soon', () => {
  beforeAll(() => openCoders(100));
  afterAll(closeCoders);

  it('is ended, and goes on in its thread with the answer on another worker, asked once and paid once', async () => {
    await startWorker();
    const id = await fleet.client.submit({ agent: 'patient', input: 'ask rm -rf build' });
    await isSuspended(id);
    const question = await askedBy(id);
    await killWorkers();
    await startWorker();
    await answer(question, 'refuse');
    const { output, attempts, usage } = await endOf(id);
    expect(output).toMatchObject({
      turns: ['ask rm -rf build', expect.stringMatching(/^You asked whether you may use shell\. A person refused it\./)],
      files: [],
      decisions: ['decline'],
    });
    expect(attempts).toEqual(['suspended', 'success']);
    // The call that asked counts in the attempt that made it, and the thread of the next one begins with it.
    expect(usage).toMatchObject({ inputTokens: USED.inputTokens + 100, costMicroUsd: USED.costMicroUsd + 10_000 });
  });
});
