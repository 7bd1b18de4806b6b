import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { AgentRunner, DefinitionOf } from '#shared/agents/agent-kind.ts';
import { createAgentRunners } from '#shared/agents/agent-kinds.ts';
import type { KeptWork, RunJournal } from '#shared/agents/loop/run-journal.ts';
import type { AgentDefinition } from '#shared/config/agent-definitions.ts';
import { type AgentContext, defineTool, type StepWork, type Tool } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { failureOf, observeRun } from '../../../support/agents/agent-run.ts';
import { startFakeModel, type FakeModel } from '../../../support/agents/fake-model.ts';

const input = z.object({ n: z.number() });
const look = vi.fn<(given: { n: number }) => unknown>();
const byName: Record<string, Tool> = {
  look: defineTool({ description: 'Looks.', input, run: (given) => look(given) }),
  pay: defineTool({ description: 'Pays.', input, approve: 'always', run: ({ n }) => `paid ${n}` }),
};

const run = (): Promise<void> => Promise.resolve();
const agents: Record<string, AgentDefinition> = {
  words: { kind: 'echo' },
  form: { kind: 'function', input: z.strictObject({ input: z.string() }), run },
  order: { kind: 'function', input, run },
  list: { kind: 'function', input: z.array(z.string()), run },
};

/** Keeps what a run does, as long as this lives. */
class MemoryJournal implements RunJournal {
  definition: unknown;
  readonly kept: { entry: KeptWork; json: string }[] = [];
  at = 0;

  async define(make: () => Promise<unknown>): Promise<unknown> {
    return (this.definition ??= await make());
  }

  async keep<T>(entry: KeptWork, work: StepWork<T>): Promise<T> {
    const known = this.kept[this.at];
    this.at += 1;
    const json = known?.json ?? JSON.stringify(await work({ signal: new AbortController().signal }));
    if (!known) this.kept.push({ entry, json });
    // What stands there was written by the same work.
    return JSON.parse(json) as T;
  }
}

const agent: DefinitionOf<'openai'> = { kind: 'openai', model: 'small', tools: ['look', 'pay'], system: 'Be quick.' };

let model: FakeModel;
let runAgent: AgentRunner<DefinitionOf<'openai'>>;

beforeEach(async () => {
  look.mockReset().mockImplementation(({ n }) => ({ seen: n }));
  model = await startFakeModel();
  runAgent = createAgentRunners({
    fleetId: () => Promise.resolve('f'),
    directory: '.',
    openaiBaseUrl: model.baseUrl,
    openaiApiKey: 'sk-default',
    readSecret: () => undefined,
    allowNetworks: [],
    maxResponseBytes: 1_000_000,
    tools: { maxResultBytes: 100, byName },
    operatorAgents: agents,
  }).openai;
});
afterEach(() => model.close());

interface Call {
  name: string;
  n: number;
}

/** Calls tools, a list for each step, and then says what it was told last. */
function script(...steps: Call[][]): void {
  model.mock.on({ predicate: () => true }, ({ messages }) => {
    const step = messages.filter(({ role }) => role === 'assistant').length;
    const calls = steps[step];
    const toolCalls = calls?.map(({ name, n }, at) => ({ name, id: `call-${step}-${at}`, arguments: JSON.stringify({ n }) }));
    const results = messages.findLast(({ role }) => role === 'tool')?.content;
    return toolCalls ? { toolCalls } : { content: typeof results === 'string' ? results : 'nothing' };
  });
}

const requests = (): { messages: { role: string; content: unknown }[]; tools?: object[]; tool_choice?: string }[] =>
  model.mock.getRequests().map(({ body }) => body as never);

describe('a model with tools', () => {
  it('is told of them, calls them, and answers with what they gave', async () => {
    script([{ name: 'look', n: 1 }]);
    const { run: attempt, written } = observeRun(agent);
    await runAgent(attempt);
    expect(written.join('')).toBe('{"seen":1}');
    expect(requests()[0]?.tools).toMatchObject([
      { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object', required: ['n'] } } },
      { type: 'function', function: { name: 'pay' } },
    ]);
    expect(requests()[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  });

  it('is told no more of what one gave than fits, and that it was cut', async () => {
    look.mockReturnValue('x'.repeat(1000));
    script([{ name: 'look', n: 1 }]);
    const { run: attempt, written } = observeRun(agent);
    await runAgent(attempt);
    expect(written.join('')).toBe(`${'x'.repeat(100)}\n[cut here: 900 of 1000 bytes are left out]`);
  });

  it('gets an answer to each of its calls, in their order, whatever became of them', async () => {
    look.mockImplementation(({ n }) => (n === 2 ? Promise.reject(new Error('closed')) : n));
    script([
      { name: 'look', n: 1 },
      { name: 'look', n: 2 },
      { name: 'unknown', n: 3 },
      { name: 'look', n: 4 },
    ]);
    await runAgent(observeRun(agent).run);
    const results = requests()[1]?.messages.filter(({ role }) => role === 'tool');
    expect(results?.map(({ content }) => content)).toEqual(['1', 'closed', expect.stringContaining('unknown'), '4']);
  });

  it('ends by the code of a tool that throws a failure, once all that run have ended', async () => {
    look.mockImplementation(({ n }) => (n === 1 ? Promise.reject(new TaskFailure('RESOURCE_NOT_FOUND', 'no such order')) : n));
    script([
      { name: 'look', n: 1 },
      { name: 'look', n: 2 },
    ]);
    expect(await failureOf(runAgent(observeRun(agent).run))).toMatchObject({ code: 'RESOURCE_NOT_FOUND', message: 'no such order' });
    expect(look).toHaveBeenCalledTimes(2);
  });

  it('may call none in its last step, and fails where it does', async () => {
    script([{ name: 'look', n: 1 }], [{ name: 'look', n: 2 }], [{ name: 'look', n: 3 }]);
    expect(await failureOf(runAgent(observeRun({ ...agent, maxSteps: 2 }).run))).toMatchObject({ code: 'NO_ANSWER', class: 'permanent' });
    expect(requests().map(({ tool_choice: choice }) => choice)).toEqual(['auto', 'none']);
    expect(look).toHaveBeenCalledTimes(1);
  });

  it('hears what people say between two steps', async () => {
    const observed = observeRun(agent);
    look.mockImplementation(() => observed.say('and hurry'));
    script([{ name: 'look', n: 1 }]);
    await runAgent(observed.run);
    expect(requests()[1]?.messages.slice(-2)).toMatchObject([{ role: 'tool' }, { role: 'user', content: 'and hurry' }]);
  });

  it('does not do what nobody approves', async () => {
    script([
      { name: 'pay', n: 5 },
      { name: 'look', n: 1 },
    ]);
    await runAgent(observeRun(agent).run);
    const results = requests()[1]?.messages.filter(({ role }) => role === 'tool');
    expect(results?.map(({ content }) => content)).toEqual(['Nobody approved this call in time, and it was not done.', '{"seen":1}']);
  });

  it('goes on behind what an earlier attempt kept, by the tools and instructions that it began with', async () => {
    script([{ name: 'look', n: 1 }], [{ name: 'look', n: 2 }]);
    const journal = new MemoryJournal();
    look.mockImplementation(({ n }) => {
      if (n === 2) throw new TaskFailure('NETWORK_ERROR', 'cut');
      return n;
    });
    await failureOf(runAgent(observeRun(agent, { journal }).run));
    look.mockImplementation(({ n }) => n * 10);
    journal.at = 0;
    const again = observeRun({ ...agent, system: 'Be slow.', tools: ['look'] }, { journal });
    await runAgent(again.run);
    expect(look.mock.calls.map(([{ n }]) => n)).toEqual([1, 2, 2]);
    expect(requests()).toHaveLength(3);
    expect(requests()[2]?.messages[0]).toMatchObject({ role: 'system', content: 'Be quick.' });
    expect(requests()[2]?.tools).toHaveLength(2);
    expect(journal.kept.map(({ entry: { kind, name } }) => `${kind} ${name}`)).toEqual([
      'model small',
      'tool look',
      'model small',
      'tool look',
      'model small',
    ]);
  });

  it('gives agents with a schema what it made, and others a text', async () => {
    const given: Record<string, unknown> = { words: { input: 'hi' }, form: { input: 'hi' }, order: { n: 1 }, list: { input: ['a'] } };
    model.mock.on({ predicate: () => true }, ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { content: 'done' }
        : { toolCalls: Object.entries(given).map(([name, each]) => ({ name, id: `call-${name}`, arguments: JSON.stringify(each) })) },
    );
    const { run: attempt } = observeRun({ ...agent, tools: [], delegates: Object.keys(given) });
    const done = { status: 'completed' as const, output: '', result: null, error: null };
    const delegateAll = vi.fn<AgentContext['delegateAll']>((calls) => Promise.resolve(calls.map(() => ({ id: 'x', ...done }) as never)));
    await runAgent({ ...attempt, context: { ...attempt.context, delegateAll } });
    expect(delegateAll.mock.calls).toEqual([
      [
        [
          ['words', 'hi'],
          ['form', { input: 'hi' }],
          ['order', { n: 1 }],
          ['list', ['a']],
        ],
      ],
    ]);
    const parameters = requests()[0]?.tools?.map((each) => (each as { function: { parameters: unknown } }).function.parameters);
    expect(parameters).toMatchObject([
      { properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false },
      { properties: { input: { type: 'string' } } },
      { properties: { n: { type: 'number' } } },
      { properties: { input: { type: 'array', items: { type: 'string' } } }, required: ['input'] },
    ]);
    expect(JSON.stringify(parameters)).not.toContain('$schema');
  });

  it('ends at once where it is stopped, though a tool ignores that', async () => {
    const begun = Promise.withResolvers<void>();
    look.mockImplementation(() => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    script([{ name: 'look', n: 1 }]);
    const { run: attempt, abort } = observeRun(agent);
    const running = runAgent(attempt);
    await begun.promise;
    abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
  });

  it('keeps nothing of an agent without tools', async () => {
    model.mock.onMessage('hello', { content: 'Hi.' });
    const journal = new MemoryJournal();
    await runAgent(observeRun({ kind: 'openai', model: 'small' }, { journal }).run);
    expect([journal.kept, journal.definition]).toEqual([[], undefined]);
  });
});
