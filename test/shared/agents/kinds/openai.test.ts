import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentRunner, AgentRunnersOptions, DefinitionOf } from '#shared/agents/agent-kind.ts';
import { createAgentRunners } from '#shared/agents/agent-kinds.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import type { ModelSource } from '#shared/models/language-model.ts';
import { failureOf, observeRun, TRACEPARENT } from '../../../support/agents/agent-run.ts';
import { startFakeHttpEndpoint, type FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { startFakeModel, type FakeModel } from '../../../support/agents/fake-model.ts';

const agent: DefinitionOf<'openai'> = { kind: 'openai', model: 'small' };

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'small', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: 'Hi' }));
}

const finish = (response: ServerResponse): void => {
  begin(response);
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
};

function createRunner(options: Partial<AgentRunnersOptions>): AgentRunner<DefinitionOf<'openai'>> {
  return createAgentRunners({
    fleetId: () => Promise.resolve('f'),
    directory: '.',
    openaiBaseUrl: undefined,
    openaiApiKey: undefined,
    readSecret: () => undefined,
    allowNetworks: [],
    maxResponseBytes: 100_000,
    ...options,
  }).openai;
}

describe('an openai agent', () => {
  let model: FakeModel;
  let runOpenai: AgentRunner<DefinitionOf<'openai'>>;

  beforeEach(async () => {
    model = await startFakeModel();
    runOpenai = createRunner({ openaiBaseUrl: model.baseUrl, openaiApiKey: 'sk-default' });
  });

  afterEach(() => model.close());

  it('streams the answer as it comes', async () => {
    model.mock.onMessage('hello', { content: 'Good morning to you.' });
    const { run, written } = observeRun(agent);
    expect((await runOpenai(run)).output).toBeUndefined();
    expect(written.join('')).toBe('Good morning to you.');
    expect(written.length).toBeGreaterThan(2);
  });

  it('reports the tokens, and what they cost where the agent has prices of its own', async () => {
    model.mock.onMessage('hello', { content: 'Hi.', usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 } });
    const used = { model: agent.model, inputTokens: 1000, outputTokens: 500, cachedInputTokens: 0, reasoningTokens: 0 };
    const priced = { ...agent, priceMicroUsdPerMillion: { input: 250_000, output: 2_000_001 } };
    const observed = [observeRun(priced), observeRun(agent)];
    for (const { run } of observed) await runOpenai(run);
    expect(observed.map(({ usages }) => usages)).toEqual([[{ ...used, costMicroUsd: 1250 }], [used]]);
  });

  it('sends the system prompt of the task after that of its agent', async () => {
    model.mock.onMessage('hello', { content: 'Hi.' });
    await runOpenai(observeRun({ ...agent, system: 'Be brief.' }, { task: { system: 'Speak German.' } }).run);
    await runOpenai(observeRun(agent, { task: { system: 'Speak German.' } }).run);
    expect(model.mock.getRequests().map(({ body }) => body)).toMatchObject([
      { messages: [{ role: 'system', content: 'Be brief.\n\nSpeak German.' }, { role: 'user' }] },
      { messages: [{ role: 'system', content: 'Speak German.' }, { role: 'user' }] },
    ]);
  });

  it('sends the system prompt, the settings, the key and the trace', async () => {
    model.mock.onMessage('hello', { content: 'Hi.' });
    await runOpenai(observeRun({ ...agent, system: 'Be brief.', temperature: 0.5, maxOutputTokens: 77 }).run);
    const request = model.mock.getLastRequest();
    expect(request?.headers).toMatchObject({ traceparent: TRACEPARENT });
    expect(request?.body).toMatchObject({
      model: 'small',
      temperature: 0.5,
      max_tokens: 77,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
    });
  });

  it('sends the earlier turns of its session ahead of the prompt', async () => {
    model.mock.onMessage('hello', { content: 'Hi.' });
    const history = [
      { taskId: '01JD0000000000000000000001', input: 'one', output: 'two' },
      { taskId: '01JD0000000000000000000002', input: 'three', output: '' },
    ];
    await runOpenai(observeRun(agent, { history }).run);
    expect(model.mock.getLastRequest()?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
        { role: 'user', content: 'hello' },
      ],
    });
  });

  it('calls the model again with its answer and the messages that arrived meanwhile, and counts the tokens of both', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    model.mock.onMessage('hello', { content: 'First.', usage }).onMessage('and then', { content: 'Second.', usage });
    const observed = observeRun({ ...agent, priceMicroUsdPerMillion: { input: 1_000_000, output: 1_000_000 } });
    observed.say('wait');
    observed.say('and then?');
    await runOpenai(observed.run);
    expect(observed.usages).toEqual([expect.objectContaining({ costMicroUsd: 15 }), expect.objectContaining({ costMicroUsd: 15 })]);
    expect(observed.written.join('')).toBe('First.\n\nSecond.');
    expect(model.mock.getRequests()).toHaveLength(2);
    expect(model.mock.getLastRequest()?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'First.' },
        { role: 'user', content: 'wait' },
        { role: 'user', content: 'and then?' },
      ],
    });
  });

  it('leaves what arrives during its last step where it is', async () => {
    model.mock.onMessage('hello', { content: 'First.' }).onMessage('more', { content: 'Next.' });
    const observed = observeRun({ ...agent, maxSteps: 2 }, { onWrite: (text) => (text.includes('.') ? observed.say('more') : undefined) });
    await runOpenai(observed.run);
    expect(observed.written.join('')).toBe('First.\n\nNext.');
    expect([model.mock.getRequests().length, observed.untaken()]).toEqual([2, 1]);
  });

  it('is throttled by a 429 for as long as Retry-After requests, after one request', async () => {
    model.mock.onMessage('hello', { error: { message: 'Slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 7 });
    const failure = await failureOf(runOpenai(observeRun(agent).run));
    expect(failure).toMatchObject({ code: 'THROTTLED', class: 'throttled', retryAfterMs: 7000, details: { status: 429 } });
    expect(failure.message).toContain('Slow down');
    expect(model.mock.getRequests()).toHaveLength(1);
  });

  it.each([
    [400, 'INVALID_INPUT', 'permanent'],
    [401, 'PERMISSION_DENIED', 'permanent'],
    [403, 'PERMISSION_DENIED', 'permanent'],
    [404, 'RESOURCE_NOT_FOUND', 'permanent'],
    [422, 'INVALID_INPUT', 'permanent'],
    [500, 'PROVIDER_ERROR', 'transient'],
    [503, 'PROVIDER_ERROR', 'transient'],
  ])('turns status %i into %s', async (status, code, kind) => {
    model.mock.onMessage('hello', { error: { message: 'Not so' }, status });
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code, class: kind, details: { status } });
    expect(model.mock.getRequests()).toHaveLength(1);
  });

  it('fails with NETWORK_ERROR when the connection is cut in the middle of the answer', async () => {
    model.mock.onMessage('hello', { content: 'A rather long answer that never ends.' }, { truncateAfterChunks: 3, latency: 5 });
    const { run, written } = observeRun(agent);
    expect(await failureOf(runOpenai(run))).toMatchObject({ code: 'NETWORK_ERROR', class: 'transient' });
    expect(written.join('')).toBe('A rath');
    expect(written.join('')).not.toContain('ends');
  });

  it('fails with NETWORK_ERROR when nobody listens at the address', async () => {
    await model.mock.stop();
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'NETWORK_ERROR', details: { reason: 'ECONNREFUSED' } });
    await model.mock.start();
  });

  it('rejects with the reason of the abort in the middle of the answer', async () => {
    model.mock.onMessage('hello', { content: 'A rather long answer. '.repeat(20) }, { streamingProfile: { ttft: 0, tps: 20 } });
    const { run, abort, firstWrite } = observeRun(agent);
    const attempt = runOpenai(run);
    const reason = new Error('cancelled');
    await firstWrite;
    abort(reason);
    await expect(attempt).rejects.toBe(reason);
  });
});

describe('an openai agent and its endpoint', () => {
  let endpoint: FakeHttpEndpoint | undefined;

  afterEach(() => endpoint?.close());

  async function start(respond: (response: ServerResponse) => void): Promise<AgentRunner<DefinitionOf<'openai'>>> {
    endpoint = await startFakeHttpEndpoint(respond);
    return createRunner({ openaiBaseUrl: endpoint.url, openaiApiKey: 'sk-default' });
  }

  it('closes the connection on an abort', async () => {
    const closed = Promise.withResolvers<void>();
    const runOpenai = await start((response) => {
      response.once('close', closed.resolve);
      begin(response);
    });
    const { run, abort, firstWrite } = observeRun(agent);
    const attempt = runOpenai(run);
    await firstWrite;
    const reason = new Error('cancelled');
    abort(reason);
    await expect(attempt).rejects.toBe(reason);
    await closed.promise;
  });

  it('closes the connection and fails with what write throws when the output is too long', async () => {
    const closed = Promise.withResolvers<void>();
    const runOpenai = await start((response) => {
      response.once('close', closed.resolve);
      begin(response);
    });
    const tooLarge = new TaskFailure('OUTPUT_TOO_LARGE', 'enough');
    const { run } = observeRun(agent, {
      onWrite: () => {
        throw tooLarge;
      },
    });
    await expect(runOpenai(run)).rejects.toBe(tooLarge);
    await closed.promise;
  });

  it('fails with NETWORK_ERROR when the stream ends politely before the answer does', async () => {
    const runOpenai = await start((response) => {
      begin(response);
      response.end();
    });
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'NETWORK_ERROR', class: 'transient' });
  });

  it('fails with PROVIDER_ERROR when the stream holds an error', async () => {
    const runOpenai = await start((response) => {
      begin(response);
      response.end(`data: ${JSON.stringify({ error: { message: 'The engine stalled', code: 'server_error' } })}\n\n`);
    });
    const failure = await failureOf(runOpenai(observeRun(agent).run));
    expect(failure).toMatchObject({ code: 'PROVIDER_ERROR', class: 'transient' });
    expect(failure.message).toContain('The engine stalled');
  });

  it('is throttled by a rate limit in the middle of the stream', async () => {
    const runOpenai = await start((response) => {
      begin(response);
      response.end(`data: ${JSON.stringify({ error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } })}\n\n`);
    });
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'THROTTLED', retryAfterMs: 30_000 });
  });

  it.each([
    [{ code: 'context_length_exceeded' }, 'INVALID_INPUT'],
    [{ type: 'authentication_error' }, 'PERMISSION_DENIED'],
    [{ type: 'not_found_error', code: null }, 'RESOURCE_NOT_FOUND'],
    [{ type: 'rate_limit_error' }, 'THROTTLED'],
    [{ type: 'overloaded_error' }, 'PROVIDER_ERROR'],
  ])('turns the error %j in the stream into %s', async (error, code) => {
    const runOpenai = await start((response) => {
      begin(response);
      response.end(`data: ${JSON.stringify({ error: { message: 'Not so', ...error } })}\n\n`);
    });
    const failure = await failureOf(runOpenai(observeRun(agent).run));
    expect(failure).toMatchObject({ code, message: 'The endpoint broke its answer off: Not so' });
  });

  it.each([
    ['what is no JSON', 'text/event-stream', 'data: {nonsense\n\n', '{nonsense'],
    ['an error of its own form', 'text/event-stream', 'data: {"error":"out of paper"}\n\n', 'out of paper'],
    ['a page', 'text/html', '<p>Please sign in', '"text/html" instead of text/event-stream'],
    ['an answer that is no stream', 'application/json', '{"choices":[]}', '"application/json" instead of text/event-stream'],
  ])('fails with a descriptive PROVIDER_ERROR when the endpoint sends %s', async (_what, type, body, said) => {
    const runOpenai = await start((response) => void response.writeHead(200, { 'content-type': type }).end(body));
    const failure = await failureOf(runOpenai(observeRun(agent).run));
    expect(failure).toMatchObject({ code: 'PROVIDER_ERROR', class: 'transient' });
    expect(failure.message).toContain(said);
  });

  it.each([
    ['its answer', (response: ServerResponse) => void response.writeHead(401).end('{"error":{"message":"No such key: sk-default"}}')],
    [
      'its stream',
      (response: ServerResponse) => (begin(response), response.end('data: {"error":{"message":"No such key: sk-default"}}\n\n')),
    ],
    ['nonsense', (response: ServerResponse) => (begin(response), response.end('data: sk-default\n\n'))],
  ])('hides its key when the endpoint quotes it in %s', async (_where, respond) => {
    const failure = await failureOf((await start(respond))(observeRun(agent).run));
    expect(failure.message).toContain('[hidden]');
    expect(failure.message).not.toContain('sk-default');
  });

  it('warns when the model stopped early, and answers what there is', async () => {
    const runOpenai = await start((response) => {
      begin(response);
      response.end(`${chunk({}, 'length')}data: [DONE]\n\n`);
    });
    const { run, written, warnings } = observeRun(agent);
    expect(await runOpenai(run)).toEqual({ finishReason: 'length' });
    expect(written).toEqual(['Hi']);
    expect(warnings).toEqual([{ finishReason: 'length' }]);
  });

  it('waits for the reset of the budget that is spent when a 429 has no Retry-After', async () => {
    const runOpenai = await start((response) => {
      const headers = {
        'x-ratelimit-remaining-requests': '5',
        'x-ratelimit-reset-requests': '9m',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '1m30s',
      };
      response.writeHead(429, headers).end();
    });
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'THROTTLED', retryAfterMs: 90_000 });
  });

  it('takes over the delay that a 503 requests, if any', async () => {
    const waits = ['7', undefined];
    const runOpenai = await start((response) => {
      const wait = waits.shift();
      response.writeHead(503, wait === undefined ? {} : { 'retry-after': wait }).end();
    });
    const failures = [await failureOf(runOpenai(observeRun(agent).run)), await failureOf(runOpenai(observeRun(agent).run))];
    expect(failures.map(({ code, retryAfterMs }) => [code, retryAfterMs])).toEqual([
      ['PROVIDER_ERROR', 7000],
      ['PROVIDER_ERROR', undefined],
    ]);
  });

  it('does not follow a redirect', async () => {
    const runOpenai = await start((response) => response.writeHead(307, { location: '/elsewhere' }).end());
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'RESOURCE_NOT_FOUND', details: { status: 307 } });
    expect(endpoint?.requests).toHaveLength(1);
  });

  it('sends the default key to the default address', async () => {
    const runOpenai = await start(finish);
    await runOpenai(observeRun(agent).run);
    expect(endpoint?.requests[0]?.headers.authorization).toBe('Bearer sk-default');
  });

  it('sends the key of the variable that the agent names', async () => {
    endpoint = await startFakeHttpEndpoint(finish);
    const runOpenai = createRunner({ openaiBaseUrl: endpoint.url, readSecret: (name) => (name === 'OTHER_KEY' ? 'sk-other' : undefined) });
    await runOpenai(observeRun({ ...agent, apiKeyEnv: 'OTHER_KEY' }).run);
    expect(endpoint.requests[0]?.headers.authorization).toBe('Bearer sk-other');
    expect(await failureOf(runOpenai(observeRun({ ...agent, apiKeyEnv: 'MISSING' }).run))).toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('never sends the default key to an address of the agent’s own', async () => {
    endpoint = await startFakeHttpEndpoint(finish);
    const definition = { ...agent, baseUrl: endpoint.url };
    const runOpenai = createRunner({
      openaiBaseUrl: 'http://127.0.0.1:1',
      openaiApiKey: 'sk-default',
      operatorAgents: { tested: definition },
    });
    await runOpenai(observeRun(definition).run);
    expect(endpoint.requests).toHaveLength(1);
    expect(endpoint.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('keeps the default key from an agent made by API, unless the operator allows it', async () => {
    endpoint = await startFakeHttpEndpoint(finish);
    const options = { openaiBaseUrl: endpoint.url, openaiApiKey: 'sk-default' };
    const made = { ...observeRun(agent).run, isOperators: false };
    expect(await failureOf(createRunner(options)(made))).toMatchObject({ code: 'PERMISSION_DENIED', class: 'permanent' });
    expect(endpoint.requests).toHaveLength(0);
    await createRunner(options)({ ...made, definition: { ...agent, apiKey: 'sk-own' } });
    await createRunner({ ...options, fleetKeyForApiAgents: true })(made);
    expect(endpoint.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-own', 'Bearer sk-default']);
  });

  it('keeps the endpoints of other agents from an agent made by API', async () => {
    endpoint = await startFakeHttpEndpoint(finish);
    const spare = { kind: 'openai', model: 'x', baseUrl: 'http://127.0.0.1:1', apiKey: 'sk-spare' } as const;
    const options = { openaiBaseUrl: endpoint.url, operatorAgents: { spare }, models: { b: { endpointOf: 'spare' } } };
    const found: (string | null | undefined)[] = [];
    const { run } = observeRun(agent);
    const wrap = (source: ModelSource): ReturnType<typeof run.models.wrap> => {
      found.push(source.elsewhere?.('b')?.account.endpoint);
      return run.models.wrap(source);
    };
    // The class has private fields, so that no object stands for it.
    const models = Object.assign(Object.create(run.models) as typeof run.models, { wrap });
    for (const isOperators of [true, false]) await createRunner(options)({ ...run, models, isOperators });
    expect(found).toEqual(['http://127.0.0.1:1', undefined]);
  });

  it('refuses a private address that the operator did not name', async () => {
    endpoint = await startFakeHttpEndpoint(finish);
    const definition = { ...agent, baseUrl: endpoint.url };
    expect(await failureOf(createRunner({})(observeRun(definition).run))).toMatchObject({ code: 'PERMISSION_DENIED', class: 'permanent' });
    expect(endpoint.requests).toHaveLength(0);
    await createRunner({ allowNetworks: ['127.0.0.0/8'] })(observeRun(definition).run);
    expect(endpoint.requests).toHaveLength(1);
  });

  it('fails for good when there is no address and no key', async () => {
    expect(await failureOf(createRunner({})(observeRun(agent).run))).toMatchObject({ code: 'INVALID_INPUT', class: 'permanent' });
  });

  it('fails with OUTPUT_TOO_LARGE when an endpoint sends without end', async () => {
    const runOpenai = await start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const filler = `: ${'x'.repeat(65_536)}\n\n`;
      const send = (): void => {
        while (!response.destroyed && response.write(filler));
        if (!response.destroyed) void once(response, 'drain').then(send, () => undefined);
      };
      send();
    });
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'OUTPUT_TOO_LARGE', class: 'permanent' });
  });

  it.each([
    ['one line', '', 'x'],
    ['many lines', 'data: ', `${'x'.repeat(100)}\r\n`],
  ])('fails with OUTPUT_TOO_LARGE when an event of %s does not end', async (_what, before, piece) => {
    const runOpenai = await start((response) => {
      begin(response);
      response.write(`data: ${`${before}${piece}`.repeat(Math.ceil(150_000 / (before.length + piece.length)))}`);
    });
    const failure = await failureOf(runOpenai(observeRun(agent).run));
    expect(failure).toMatchObject({ code: 'OUTPUT_TOO_LARGE', message: 'The endpoint answered with an event of more than 100000 bytes' });
  });

  it('reads many events that are larger together than one may be', async () => {
    const runOpenai = await start((response) => {
      begin(response);
      for (let count = 0; count < 30; count += 1) response.write(chunk({ content: 'y'.repeat(5000) }).replaceAll('\n', '\r\n'));
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    });
    const { run, written } = observeRun(agent);
    await runOpenai(run);
    expect(written.join('')).toHaveLength(150_002);
  });
});
