import { fileURLToPath } from 'node:url';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI, { toFile } from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startFakeModel, type FakeModel } from '../../support/agents/fake-model.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { freePort } from '../../support/free-port.ts';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const SLOW = fileURLToPath(import.meta.resolve('../../support/agents/slow-agent.ts'));
/** Takes the slow agent some seconds. */
const WORDS = Array.from({ length: testEnvironment.isChaos ? 30 : 18 }, (_, at) => `word${at}`);
const TEXT = WORDS.join(' ');
const BATCH = testEnvironment.isChaos ? 12 : 6;

let model: FakeModel;
let fleet: Fleet;
let port: string;
let api: ServiceProcess;
const workers: ServiceProcess[] = [];
let client: OpenAI;

beforeAll(async () => {
  model = await startFakeModel();
  const calling = { kind: 'openai', model: 'small', baseUrl: model.baseUrl, apiKey: 'k' } as const;
  fleet = await openFleet({ settings: { agents: { slow: { kind: 'function', file: SLOW }, caller: calling }, openai: { batchAhead: 4 } } });
  port = String(await freePort());
  api = await fleet.start('api', { PORT: port });
  workers.push(await fleet.start('worker'), await fleet.start('worker'));
  client = new OpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: fleet.adminKey });
});
afterAll(async () => {
  await fleet.stop();
  await model.close();
});

let before: number;
beforeEach(async () => {
  before = (await taskIds()).length;
  model.mock.reset();
});

async function taskIds(): Promise<string[]> {
  const { body } = await fleet.client.call('GET', '/v1/tasks?limit=200');
  return (body.items as { id: string }[]).map(({ id }) => id);
}

const newest = async (): Promise<string> => (await taskIds())[0] ?? '';
const madeSince = async (): Promise<number> => (await taskIds()).length - before;

/** The model calls a function for each of these towns, and then says what it was given. */
function script(towns: readonly string[]): void {
  model.mock.on({ predicate: () => true }, ({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => (typeof content === 'string' ? content : ''));
    const town = towns[results.length];
    if (town === undefined) return { content: results.join(', ') };
    return { toolCalls: [{ name: 'weather', arguments: JSON.stringify({ town }), id: `own-${results.length}` }] };
  });
}

const running = async (): Promise<string | undefined> =>
  (await fleet.client.call('GET', '/v1/tasks?status=running')).body.items[0]?.id as string | undefined;

async function runningTask(): Promise<string> {
  return await waitFor(running, { deadlineMs: 30_000, everyMs: 50, what: 'a task that runs' });
}

/** Ends the API as an operator or a fault does, and starts another one at its address. */
async function restartApi(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  await api.kill(signal);
  await api.exited;
  api = await fleet.start('api', { PORT: port });
}

/** Kills the worker that runs a task, and starts another. */
async function killRunner(id: string): Promise<void> {
  const { worker } = (await fleet.client.attempts(id)).at(-1) ?? { worker: 'none' };
  const runner = workers.find(({ pid }) => worker.includes(`-${pid}-`));
  if (!runner) throw new Error(`No worker of this test runs ${id}: ${worker}`);
  await runner.kill();
  workers.splice(workers.indexOf(runner), 1, await fleet.start('worker'));
}

/** Does something once, when the third word has come. */
function atThirdWord(disturb: () => Promise<void>): { heard: (text: string) => void; done: () => Promise<void> } {
  let words = 0;
  let disturbing: Promise<void> | undefined;
  return {
    heard: (text) => {
      if (text.trim() !== '') words += 1;
      if (words === 3) disturbing ??= disturb();
    },
    done: async () => await disturbing,
  };
}

describe('a stream in which the worker is killed', () => {
  it('of a chat goes on by the client of OpenAI, with each word once', async () => {
    const stream = await client.chat.completions.create({ model: 'slow', messages: [{ role: 'user', content: TEXT }], stream: true });
    const kill = atThirdWord(async () => await killRunner(await newest()));
    const pieces: string[] = [];
    for await (const { choices } of stream) {
      const piece = choices[0]?.delta.content ?? '';
      pieces.push(piece);
      kill.heard(piece);
    }
    await kill.done();
    expect(pieces.join('')).toBe(TEXT);
    expect(await madeSince()).toBe(1);
    expect(await fleet.client.attempts(await newest())).toHaveLength(2);
  });

  it.each(firstOf(['responses', 'chat', 'compatible'] as const))('goes on by the AI SDK (%s), with each word once', async (kind) => {
    const baseURL = `${api.url}/openai/v1`;
    const provider = createOpenAI({ baseURL, apiKey: fleet.adminKey });
    const models = {
      responses: provider.responses('slow'),
      chat: provider.chat('slow'),
      compatible: createOpenAICompatible({ name: 'muster', baseURL, apiKey: fleet.adminKey })('slow'),
    };
    const streamed = streamText({ model: models[kind], prompt: TEXT });
    const kill = atThirdWord(async () => await killRunner(await newest()));
    let text = '';
    for await (const part of streamed.textStream) {
      text += part;
      kill.heard(part);
    }
    await kill.done();
    expect([text, await streamed.finishReason, await madeSince()]).toEqual([TEXT, 'stop', 1]);
  });
});

describe('a stream in which the API ends', () => {
  it.each(firstOf(['SIGKILL', 'SIGTERM'] as const))('by %s is cut, never ended, and goes on behind its last event', async (signal) => {
    const events: ResponseStreamEvent[] = [];
    const restart = atThirdWord(async () => await restartApi(signal));
    const read = async (stream: AsyncIterable<ResponseStreamEvent>): Promise<void> => {
      for await (const event of stream) {
        events.push(event);
        if (event.type === 'response.output_text.delta') restart.heard(event.delta);
      }
    };
    const first = read(await client.responses.create({ model: 'slow', input: TEXT, stream: true }));
    await expect(first).rejects.toBeInstanceOf(Error);
    await restart.done();
    const [created] = events;
    if (created?.type !== 'response.created') throw new Error('It did not begin');
    const { id } = created.response;
    await read(await client.responses.retrieve(id, { stream: true, starting_after: events.at(-1)?.sequence_number ?? -1 }));
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at));
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: [{ content: [{ text: TEXT }] }] } });
    // The helper of the client reads from the first, and checks the order.
    expect((await client.responses.stream({ response_id: id }).finalResponse()).output_text).toBe(TEXT);
    expect(await madeSince()).toBe(1);
    expect(await fleet.client.attempts(id.slice('resp_'.length))).toHaveLength(1);
  });
});

describe('a request without an answer', () => {
  it('is sent again by the client of OpenAI, and finds its task', async () => {
    const patient = new OpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: fleet.adminKey, maxRetries: 10 });
    const answering = patient.responses.create({ model: 'slow', input: TEXT });
    await waitFor(async () => (await madeSince()) === 1, { deadlineMs: 10_000, everyMs: 20, what: 'the task' });
    // Before its headers, which follow much later.
    await restartApi();
    expect((await answering).output_text).toBe(TEXT);
    expect(await madeSince()).toBe(1);
  });

  it('is sent again with the header Idempotency-Key, and finds its task', async () => {
    const headers = { 'Idempotency-Key': `night-${before}` };
    const ask = (): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create({ model: 'slow', messages: [{ role: 'user', content: TEXT }] }, { headers, maxRetries: 0 });
    const cut = ask();
    await waitFor(async () => (await madeSince()) === 1, { deadlineMs: 10_000, everyMs: 20, what: 'the task' });
    await fleet.client.reaches(await newest(), ['running']);
    await Promise.all([expect(cut).rejects.toBeInstanceOf(Error), restartApi()]);
    expect((await ask()).choices[0]?.message.content).toBe(TEXT);
    expect(await madeSince()).toBe(1);
  });

  it('of the background is there later, whatever was killed meanwhile', async () => {
    const { id, status } = await client.responses.create({ model: 'slow', input: TEXT, background: true });
    // A worker may be quicker than the answer.
    expect(['queued', 'in_progress']).toContain(status);
    const task = id.slice('resp_'.length);
    await fleet.client.reaches(task, ['running']);
    await killRunner(task);
    await restartApi();
    await fleet.client.ended([task], 60_000);
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'completed', output_text: TEXT });
  });
});

describe('functions of the caller', () => {
  it('are called once each, and no model call is made again, though all processes end between', async () => {
    const towns = firstOf(['Bonn', 'Ulm', 'Kiel'], 2);
    script(towns);
    const called: string[] = [];
    const weather = tool({
      description: 'The weather of a town',
      inputSchema: z.object({ town: z.string() }),
      execute: async ({ town }) => {
        called.push(town);
        // While the run waits for this.
        await Promise.all([restartApi(), ...workers.splice(0).map((worker) => worker.kill())]);
        workers.push(await fleet.start('worker'), await fleet.start('worker'));
        return `sunny in ${town}`;
      },
    });
    const { text } = await generateText({
      model: createOpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: fleet.adminKey }).responses('caller'),
      prompt: 'All of them?',
      tools: { weather },
      stopWhen: isStepCount(10),
    });
    expect(text).toBe(towns.map((town) => `sunny in ${town}`).join(', '));
    expect(called).toEqual(towns);
    expect(model.mock.getRequests()).toHaveLength(towns.length + 1);
    expect(await madeSince()).toBe(1);
  });
});

describe('a batch', () => {
  it('answers each of its requests once, though its processes are killed', async () => {
    const requests = Array.from({ length: BATCH }, (_, at) => ({
      custom_id: `r${at}`,
      method: 'POST',
      url: '/v1/responses',
      body: { model: 'slow', input: `request ${at} of the night` },
    }));
    const sent = await toFile(Buffer.from(requests.map((line) => JSON.stringify(line)).join('\n')), 'night.jsonl');
    const { id: input } = await client.files.create({ file: sent, purpose: 'batch' });
    const { id } = await client.batches.create({ input_file_id: input, endpoint: '/v1/responses', completion_window: '24h' });
    const hasTwo = async (): Promise<boolean> => ((await client.batches.retrieve(id)).request_counts?.completed ?? 0) >= 2;
    await waitFor(hasTwo, { deadlineMs: 60_000, everyMs: 200, what: 'two answers' });
    await restartApi();
    await killRunner(await runningTask());
    const isOver = async (): Promise<boolean> => (await client.batches.retrieve(id)).status === 'completed';
    await waitFor(isOver, { deadlineMs: 90_000, everyMs: 300, what: 'the end of the batch' });
    const batch = await client.batches.retrieve(id);
    expect(batch.request_counts).toEqual({ total: BATCH, completed: BATCH, failed: 0 });
    const lines = (await (await client.files.content(batch.output_file_id ?? '')).text()).trim().split('\n');
    const answers = lines.map((line) => JSON.parse(line) as { custom_id: string; response: { body: OpenAI.Responses.Response } });
    expect(answers.map(({ custom_id: custom, response }) => [custom, JSON.stringify(response.body.output)])).toEqual(
      requests.map(({ custom_id: custom, body }) => [custom, expect.stringContaining(body.input)]),
    );
    expect(await madeSince()).toBe(BATCH);
  });
});
