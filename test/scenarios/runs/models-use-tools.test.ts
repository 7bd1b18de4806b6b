import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startFakeModel, type FakeModel } from '../../support/agents/fake-model.ts';
import { serveMcp, type ServedMcp } from '../../support/agents/mcp/mcp-tools.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { TOOL_EFFECTS, type ToolEffect } from '../../support/fleet/runs/tools.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const CALLS = testEnvironment.isChaos ? 20 : 6;
const KILLS = testEnvironment.isChaos ? 6 : 2;
const TOOLS = fileURLToPath(import.meta.resolve('../../support/fleet/runs/tools.ts'));
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const priceMicroUsdPerMillion = { input: 1_000_000, output: 1_000_000 };

const PROGRAM = fileURLToPath(import.meta.resolve('../../support/agents/mcp/mcp-program.ts'));
const LOOPING = fileURLToPath(import.meta.resolve('../../support/fleet/runs/looping-agent.ts'));

let model: FakeModel;
let mcp: ServedMcp;
let fleet: Fleet;
beforeAll(async () => {
  model = await startFakeModel();
  mcp = await serveMcp();
  const own = { kind: 'openai', model: 'small', baseUrl: model.baseUrl, apiKey: 'k', priceMicroUsdPerMillion } as const;
  fleet = await openFleet({
    toolsFile: TOOLS,
    env: { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'k' },
    settings: {
      questions: { maxWaitMs: 15_000 },
      outbound: { allowNetworks: ['127.0.0.0/8'] },
      mcp: { served: { url: mcp.url }, program: { command: [process.execPath, PROGRAM] }, inside: { url: 'http://169.254.169.254/mcp' } },
      agents: {
        served: { ...own, mcp: ['served', 'program'], maxSteps: 10 },
        inside: { ...own, mcp: ['inside'] },
        looping: { kind: 'function', file: LOOPING },
        noting: { ...own, tools: ['note', 'refund', 'broken'], maxSteps: CALLS + 2, system: 'Note the numbers.' },
        boss: { ...own, delegates: ['echo'], tools: ['note'] },
      },
    },
  });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.clear();
  model.mock.reset();
  rmSync(`${fleet.directory}/${TOOL_EFFECTS}`, { force: true });
});
afterAll(async () => {
  await fleet.stop();
  await model.close();
  await mcp.close();
});

function effects(): ToolEffect[] {
  const file = `${fleet.directory}/${TOOL_EFFECTS}`;
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as ToolEffect);
}

interface Entry {
  kind: string;
  name: string;
  status: string;
}

const journalOf = async (id: string): Promise<Entry[]> =>
  (await fleet.client.call('GET', `/v1/tasks/${id}/journal`)).body['items'] as Entry[];

/** Calls `note` with 1, 2, and so on, each after a word, and then answers. */
function noteOneByOne(): void {
  model.mock.on({ predicate: () => true }, ({ messages }) => {
    const done = messages.filter(({ role }) => role === 'tool').length;
    if (done === CALLS) return { content: 'All noted.', usage };
    const call = { name: 'note', arguments: JSON.stringify({ n: done + 1 }), id: `call-${done + 1}` };
    return { content: `Noting ${done + 1}.`, toolCalls: [call], usage };
  });
}

/** Answers with these calls first, and then with what it was given. */
function callOnce(...calls: { name: string; arguments: string; id: string }[]): void {
  model.mock.on({ predicate: () => true }, ({ messages }) => {
    const given = messages.filter(({ role }) => role === 'tool').map(({ content }) => (typeof content === 'string' ? content : ''));
    return given.length === 0 ? { toolCalls: calls, usage } : { content: given.join(' | '), usage };
  });
}

const questionOf = async (taskId: string): Promise<{ id: string; question: string }> => {
  const open = async (): Promise<unknown[]> =>
    (await fleet.client.call('GET', `/v1/questions?status=open&taskId=${taskId}`)).body['items'] as unknown[];
  await waitFor(async () => (await open()).length === 1, { deadlineMs: 20_000, what: 'the question' });
  return (await open())[0] as { id: string; question: string };
};

describe('a model with tools', () => {
  it('goes on where it was when its worker is killed: tools are called once, money is counted once, nothing is said twice', async () => {
    noteOneByOne();
    const workers: ServiceProcess[] = [await fleet.start('worker'), await fleet.start('worker')];
    const id = await fleet.client.submit({ agent: 'noting', input: 'go' });
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const ended = Math.floor((kill * CALLS) / (KILLS + 1));
      await waitFor(() => effects().length > ended, { deadlineMs: 60_000, everyMs: 20, what: `${ended} calls` });
      await workers.find(({ pid }) => pid === effects().at(-1)?.pid)?.kill();
      workers.push(await fleet.start('worker'));
    }
    const [task] = await fleet.client.ended([id], 90_000);
    expect(task).toMatchObject({ status: 'completed', attempt: 1, finishReason: 'stop' });
    const said = [...Array.from({ length: CALLS }, (_, at) => `Noting ${at + 1}.`), 'All noted.'].join('\n\n');
    expect(task?.output).toBe(said);

    const all = effects();
    expect(new Set(all.map(({ key }) => key)).size).toBe(CALLS);
    expect(all.length).toBeLessThanOrEqual(CALLS + KILLS);
    const requests = model.mock.getRequests().length;
    expect(requests).toBeGreaterThanOrEqual(CALLS + 1);
    expect(requests).toBeLessThanOrEqual(CALLS + 1 + KILLS);
    const entries = await journalOf(id);
    expect(entries.map(({ kind, name, status }) => `${kind} ${name} ${status}`)).toEqual([
      'definition noting completed',
      ...Array.from({ length: CALLS }, () => ['model small completed', 'tool note completed']).flat(),
      'model small completed',
    ]);
    // A call that a kill cut is not in it: its provider has not said what it cost.
    expect((task as { usage?: { costMicroUsd: number } }).usage?.costMicroUsd).toBeGreaterThanOrEqual((CALLS + 1) * 15);
  });

  it('is given what does not fit, what failed, and what there is not', async () => {
    callOnce(
      { name: 'note', arguments: '{"n":"one"}', id: 'a' },
      { name: 'broken', arguments: '{"n":1}', id: 'b' },
      { name: 'nothing', arguments: '{}', id: 'c' },
      { name: 'note', arguments: '{"n":2}', id: 'd' },
    );
    await fleet.start('worker');
    const [task] = await fleet.client.ended([await fleet.client.submit({ agent: 'noting', input: 'go' })], 30_000);
    expect(task?.status).toBe('completed');
    expect(task?.output).toMatch(/does not fit the schema.* \| the shop is closed \| .*nothing.* \| \{"noted":2\}/);
    expect(effects().map(({ n }) => n)).toEqual([2]);
  });

  it.each([
    ['approve', 'refunded 20', [20]],
    ['refuse', 'A person refused this call', []],
  ])('asks people before a call that needs it, and does as they say: %s', async (answer, given, done) => {
    callOnce({ name: 'refund', arguments: '{"n":20}', id: 'a' });
    const worker = await fleet.start('worker');
    const id = await fleet.client.submit({ agent: 'noting', input: 'go' });
    const { id: question, question: asked } = await questionOf(id);
    expect(asked).toContain('"refund"');
    expect(asked).toContain('"n": 20');
    expect(effects()).toEqual([]);
    await worker.kill();
    const answered = await fleet.client.call('POST', `/v1/questions/${question}/answer`, { body: { answer } });
    expect(answered.status).toBe(200);
    expect((await fleet.client.call('POST', `/v1/questions/${question}/answer`, { body: { answer } })).status).toBe(409);
    await fleet.start('worker');
    const [task] = await fleet.client.ended([id], 30_000);
    expect(task?.output).toContain(given);
    expect(effects().map(({ n }) => n)).toEqual(done);
    expect(model.mock.getRequests()).toHaveLength(2);
  });

  it.runIf(testEnvironment.isChaos)('asks nobody where a call needs nobody', async () => {
    callOnce({ name: 'refund', arguments: '{"n":5}', id: 'a' });
    await fleet.start('worker');
    const [task] = await fleet.client.ended([await fleet.client.submit({ agent: 'noting', input: 'go' })], 30_000);
    expect(task?.output).toBe('refunded 5');
  });

  it('gives agents sub-tasks, all at once, and waits for them without a slot', async () => {
    callOnce(
      { name: 'echo', arguments: '{"input":"one"}', id: 'a' },
      { name: 'note', arguments: '{"n":1}', id: 'b' },
      { name: 'echo', arguments: '{"input":"two"}', id: 'c' },
    );
    await fleet.start('worker', { WORKER_SLOTS: '1' });
    const id = await fleet.client.submit({ agent: 'boss', input: 'go' });
    const [task] = await fleet.client.ended([id], 30_000);
    expect(task?.output).toBe('one | {"noted":1} | two');
    const entries = await journalOf(id);
    expect(entries.map(({ kind }) => kind)).toEqual(['definition', 'model', 'tool', 'delegate', 'model']);
  });

  it.runIf(testEnvironment.isChaos)('is not done where nobody answers in time', async () => {
    callOnce({ name: 'refund', arguments: '{"n":20}', id: 'a' });
    await fleet.start('worker');
    const [task] = await fleet.client.ended([await fleet.client.submit({ agent: 'noting', input: 'go' })], 60_000);
    expect(task?.output).toContain('Nobody approved this call in time');
    expect(effects()).toEqual([]);
  });

  it('works within a function as by itself, over a kill', async () => {
    noteOneByOne();
    const worker = await fleet.start('worker');
    const id = await fleet.client.submit({ agent: 'looping', input: 'go' });
    await waitFor(() => effects().length >= CALLS / 2, { deadlineMs: 60_000, everyMs: 20, what: 'half of the calls' });
    await worker.kill();
    await fleet.start('worker');
    const [task] = await fleet.client.ended([id], 90_000);
    expect(task).toMatchObject({ status: 'completed', attempt: 1, output: 'All noted.', result: { length: 10 } });
    expect(new Set(effects().map(({ key }) => key)).size).toBe(CALLS);
    expect(effects().length).toBeLessThanOrEqual(CALLS + 1);
    expect(model.mock.getRequests().length).toBeLessThanOrEqual(CALLS + 2);
  });

  it('uses the tools of MCP servers, over a kill and a restart of one with other tools, and none of an address inside', async () => {
    const steps = [
      ['add', { a: 1, b: 2 }],
      ['program_add', { a: 3, b: 4 }],
      ['add', { a: 5, b: 6 }],
    ] as const;
    const worker = await fleet.start('worker');
    let isKilled = false;
    model.mock.on({ predicate: () => true }, async ({ messages, tools = [] }) => {
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      const step = steps[results.length];
      if (results.length === 2 && !isKilled) {
        isKilled = true;
        await worker.kill();
        await mcp.restart('extra');
      }
      expect(tools.map(({ function: { name } }) => name)).not.toContain('extra');
      return step
        ? { toolCalls: [{ name: step[0], arguments: JSON.stringify(step[1]), id: `call-${results.length}` }], usage }
        : { content: results.map((each) => (typeof each === 'string' ? each : '')).join(' '), usage };
    });
    const id = await fleet.client.submit({ agent: 'served', input: 'add' });
    await waitFor(() => isKilled, { deadlineMs: 60_000, what: 'the worker to be killed' });
    await fleet.start('worker');
    const [task] = await fleet.client.ended([id], 90_000);
    expect(task).toMatchObject({ status: 'completed', output: '3 7 11' });
    const [refused] = await fleet.client.ended([await fleet.client.submit({ agent: 'inside', input: 'add' })], 30_000);
    expect(refused).toMatchObject({ status: 'permanently_failed', error: { code: 'PERMISSION_DENIED' } });
  });
});
