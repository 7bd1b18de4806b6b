import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { openOpenai } from '../../../../services/api/openai/open-openai.ts';
import { startFakeModel } from '../../../support/agents/fake-model.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useApi } from '../support/use-api.ts';

const fake = closeAfterTests(await startFakeModel());
const api = await useApi({
  agents: {
    echo: { kind: 'echo' },
    plain: { kind: 'openai', model: 'gpt-test', baseUrl: fake.baseUrl, apiKey: 'k' },
    idle: { kind: 'daemon' },
  },
  openai: { batchAhead: 3, maxBatches: 4, maxBatchRequests: 20 },
});
await useWorker(api.parts);
const client = new OpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: api.key, maxRetries: 0 });
const openai = openOpenai(api.parts);
const signal = new AbortController().signal;

const file = (lines: (object | string)[], purpose: OpenAI.FilePurpose = 'batch'): Promise<OpenAI.FileObject> =>
  toFile(Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')), 'requests.jsonl').then(
    (sent) => client.files.create({ file: sent, purpose }),
  );

const responses = (inputs: string[], model = 'echo'): object[] =>
  inputs.map((input) => ({ custom_id: `r-${input}`, method: 'POST', url: '/v1/responses', body: { model, input } }));

async function begin(lines: (object | string)[], endpoint: OpenAI.BatchCreateParams['endpoint'] = '/v1/responses'): Promise<string> {
  const { id } = await file(lines);
  const batch = await client.batches.create({ input_file_id: id, endpoint, completion_window: '24h', metadata: { night: '1' } });
  expect(batch).toMatchObject({ object: 'batch', status: 'validating', input_file_id: id, metadata: { night: '1' } });
  return batch.id;
}

/** Rounds of the chore, until the batch has a status. */
async function untilStatus(id: string, status: string): Promise<OpenAI.Batch> {
  const { batches } = api.parts.keys.tenant('default');
  expect(await api.parts.redis.zscore(batches, id)).not.toBeNull();
  return await waitFor(
    async () => {
      await api.parts.redis.zadd(api.parts.keys.shard(0).openBatches, 'XX', 0, `default/${id}`);
      await openai.runBatches(signal);
      const batch = await client.batches.retrieve(id);
      return batch.status === status ? batch : null;
    },
    { deadlineMs: 15_000, what: `the batch to be ${status}` },
  );
}

interface Line {
  custom_id: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers of every shape
  response: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  error: any;
}

async function linesOf(id: string | null | undefined): Promise<Line[]> {
  const text = await (await client.files.content(id ?? '')).text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const post = async (body: FormData | string): Promise<[number, string]> => {
  const response = await fetch(`${api.url}/openai/v1/files`, { method: 'POST', headers: { authorization: `Bearer ${api.key}` }, body });
  const { error } = (await response.json()) as { error: { code: string; param: string } };
  return [response.status, error.param ?? error.code];
};

const chat = (custom: string, more: object): object => ({
  custom_id: custom,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'plain', messages: [{ role: 'user', content: custom }], ...more },
});

const create = (input: string): Promise<unknown> =>
  client.batches.create({ input_file_id: input, endpoint: '/v1/responses', completion_window: '24h' });

describe('files', () => {
  it('are sent, read, listed and removed', async () => {
    const sent = await file(['{"a":1}'], 'user_data');
    expect(sent).toMatchObject({ object: 'file', bytes: 7, filename: 'requests.jsonl', purpose: 'user_data', status: 'processed' });
    expect(await client.files.retrieve(sent.id)).toEqual(sent);
    expect(await (await client.files.content(sent.id)).text()).toBe('{"a":1}');
    const other = await file(['x']);
    expect((await client.files.list({ purpose: 'user_data' })).data).toEqual([sent]);
    expect((await client.files.list({ limit: 1 })).data).toEqual([other]);
    expect(await client.files.delete(sent.id)).toEqual({ id: sent.id, object: 'file', deleted: true });
    await expect(client.files.retrieve(sent.id)).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
    await expect(client.files.content(sent.id)).rejects.toMatchObject({ status: 404 });
  });

  it('may be given to a response, and stay with its task', async () => {
    fake.mock.onMessage('read it', { content: 'It says hello.' });
    const { id } = await toFile(Buffer.from('hello'), 'note.txt').then((sent) => client.files.create({ file: sent, purpose: 'user_data' }));
    const { output_text: text, id: response } = await client.responses.create({
      model: 'plain',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'read it' },
            { type: 'input_file', file_id: id },
          ],
        },
      ],
    });
    expect(text).toBe('It says hello.');
    expect(JSON.stringify(fake.mock.getLastRequest()?.body)).toContain('hello');
    await client.files.delete(id);
    const task = response.slice('resp_'.length);
    expect((await api.call('GET', `/v1/tasks/${task}/attachments/note.txt`)).body).toBe('hello');
  });

  it('need a purpose, and are refused in any other form', async () => {
    const form = new FormData();
    form.set('file', new Blob(['x']), 'x.txt');
    expect(await post(form)).toEqual([400, 'purpose']);
    expect(await post('text')).toEqual([415, 'request.unsupported-media-type']);
    expect((await client.files.list()).data.some(({ filename }) => filename === 'x.txt')).toBe(false);
  });
});

describe('a batch', () => {
  it('has its requests answered at low priority, in its own time, and the answers in a file', async () => {
    const inputs = ['one', 'two', 'three', 'four', 'five'];
    const id = await begin([...responses(inputs), ...responses(['lost'], 'gone'), ...responses([' '])]);
    const batch = await untilStatus(id, 'completed');
    expect(batch).toMatchObject({ request_counts: { total: 7, completed: 5, failed: 2 }, errors: null });
    const answers = await linesOf(batch.output_file_id);
    expect(
      answers.map(({ custom_id: custom, response }) => [custom, response.status_code, response.body.output[0].content[0].text]),
    ).toEqual(inputs.map((input) => [`r-${input}`, 200, input]));
    const errors = await linesOf(batch.error_file_id);
    expect(errors.map(({ custom_id: custom, response }) => [custom, response.status_code, response.body.error.code])).toEqual([
      ['r-lost', 404, 'model_not_found'],
      ['r- ', 400, 'invalid_request'],
    ]);
    const { body: response } = answers[0]?.response ?? {};
    const task = (await api.call('GET', `/v1/tasks/${response.id.slice('resp_'.length)}`)).body;
    expect(task).toMatchObject({ priority: 1, queue: 'background', input: 'one' });
    expect((await client.batches.list()).data.map((each) => each.id)).toContain(id);
  });

  it('of chats has completions, also of calls that nobody answers', async () => {
    fake.mock.reset();
    fake.mock.on({ predicate: () => true }, ({ tools = [] }) =>
      tools.length > 0 ? { toolCalls: [{ name: 'label', arguments: '{"label":"bug"}', id: 'x' }] } : { content: 'plain' },
    );
    const tools = [{ type: 'function', function: { name: 'label', parameters: { type: 'object' } } }];
    const id = await begin([chat('text', { stream: true }), chat('call', { tools })], '/v1/chat/completions');
    const batch = await untilStatus(id, 'completed');
    const [text, call] = await linesOf(batch.output_file_id);
    expect(text?.response.body.choices[0].message.content).toBe('plain');
    expect(call?.response.body.choices[0].message.tool_calls[0].function).toEqual({ name: 'label', arguments: '{"label":"bug"}' });
  });

  it('makes each task once, whichever process goes on', async () => {
    const id = await begin(responses(['a', 'b', 'c', 'd']));
    const another = openOpenai(api.parts);
    const due = (): Promise<unknown> => api.parts.redis.zadd(api.parts.keys.shard(0).openBatches, 'XX', 0, `default/${id}`);
    // As if the first had died before it wrote how far it came, and both had it at once.
    const key = api.parts.keys.tenant('default').batch(id);
    const before = await api.parts.redis.hget(key, 'state');
    await due();
    await openai.runBatches(signal);
    await api.parts.redis.hset(key, 'state', before ?? '');
    await due();
    const first = openai.runBatches(signal);
    await due();
    await Promise.all([first, another.runBatches(signal)]);
    const batch = await untilStatus(id, 'completed');
    expect(batch.request_counts).toEqual({ total: 4, completed: 4, failed: 0 });
    const answers = await linesOf(batch.output_file_id);
    expect(answers.map(({ custom_id: custom }) => custom)).toEqual(['r-a', 'r-b', 'r-c', 'r-d']);
    const ids = answers.map(({ response }) => response.body.id);
    expect(new Set(ids).size).toBe(4);
    for (const input of ['a', 'b', 'c', 'd']) {
      const { items } = (await api.call('GET', `/v1/tasks?agent=echo&q=${input}&limit=200`)).body;
      expect(items.filter((item: { input: string }) => item.input === input)).toHaveLength(1);
    }
  });

  it('that is cancelled ends with what it has', async () => {
    const id = await begin([...responses(['done']), ...responses(['w', 'x', 'y', 'z'], 'idle')]);
    await waitFor(
      async () => {
        await api.parts.redis.zadd(api.parts.keys.shard(0).openBatches, 'XX', 0, `default/${id}`);
        await openai.runBatches(signal);
        return (await client.batches.retrieve(id)).request_counts?.completed === 1;
      },
      { deadlineMs: 10_000, what: 'the first answer' },
    );
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    const batch = await untilStatus(id, 'cancelled');
    expect((await linesOf(batch.output_file_id)).map(({ custom_id: custom }) => custom)).toEqual(['r-done']);
    const errors = await linesOf(batch.error_file_id);
    // Some were tasks by then, the others are none.
    expect(errors.map(({ custom_id: custom }) => custom)).toEqual(['r-w', 'r-x', 'r-y', 'r-z']);
    expect(errors.map(({ error, response }) => [error?.code, response])).toEqual(errors.map(() => ['batch_cancelled', null]));
    expect((await client.batches.cancel(id)).status).toBe('cancelled');
  });

  it('that takes too long expires, and keeps what it has', async () => {
    const id = await begin([...responses(['quick']), ...responses(['slow'], 'idle')]);
    const key = api.parts.keys.tenant('default').batch(id);
    const record = JSON.parse((await api.parts.redis.hget(key, 'record')) ?? '{}') as object;
    await untilStatus(id, 'in_progress');
    await api.parts.redis.hset(key, 'record', JSON.stringify({ ...record, expiresAt: Date.now() - 1 }));
    const batch = await untilStatus(id, 'expired');
    expect(batch.error_file_id).not.toBeNull();
  });

  it('whose file is wrong fails, and says where', async () => {
    const [good] = responses(['x']);
    const id = await begin([good ?? {}, '{', { custom_id: 'u', method: 'POST', url: '/v1/embeddings', body: {} }, good ?? {}]);
    const batch = await untilStatus(id, 'failed');
    expect(batch.errors?.data?.map(({ code, line }) => [code, line])).toEqual([
      ['invalid_json_line', 2],
      ['mismatched_endpoint', 3],
      ['duplicate_custom_id', 4],
    ]);
    const many = await begin(responses(Array.from({ length: 21 }, (_, at) => `n${at}`)));
    expect((await untilStatus(many, 'failed')).errors?.data?.[0]?.code).toBe('too_many_tasks');
  });

  it('needs a file for batches, and is bounded in number', async () => {
    const { id } = await file(['x'], 'user_data');
    await expect(create(id)).rejects.toMatchObject({ status: 400, param: 'input_file_id' });
    await expect(create('file-0')).rejects.toMatchObject({ status: 404 });
    const input = (await file(responses(['q'], 'idle'))).id;
    for (let made = 0; made < 4; made += 1) await create(input);
    await expect(create(input)).rejects.toMatchObject({ status: 429 });
  });
});
