import type { ServerResponse } from 'node:http';
import { generateText, streamText } from 'ai';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { GuardedFetch } from '#shared/agents/guarded-fetch.ts';
import { openElsewhere, openModelSource } from '#shared/agents/model-source.ts';
import { createModelFetch } from '#shared/agents/kinds/openai-endpoint.ts';
import type { SpendAnswer } from '#shared/budgets/spend.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import type { AgentUsage } from '#shared/config/define-config.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { HeldFailure } from '#shared/errors/task-failure.ts';
import { AttemptModels, type AttemptModelsOptions } from '#shared/models/attempt-models.ts';
import type { ModelSource } from '#shared/models/language-model.ts';
import { accountOf } from '#shared/providers/account.ts';
import { openGate, waitingPlace } from '../../support/agents/open-gate.ts';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { answerCompletion } from '../../support/agents/chat-completion.ts';

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: { cached_tokens: 40 } };

const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;

const begin = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: 'Good ' }));
};

const stream = (response: ServerResponse): void => {
  begin(response);
  response.end(`${chunk({}, 'stop', { usage })}data: [DONE]\n\n`);
};

const answer = (response: ServerResponse): void => answerCompletion(response, usage);

const fail = (response: ServerResponse): void => void response.writeHead(500).end('{"error":{"message":"out of order"}}');

let endpoint: FakeHttpEndpoint;
/** What the endpoint answers, by model. */
let respond: Record<string, (response: ServerResponse) => void>;
const usages: AgentUsage[] = [];
const notes: string[] = [];

beforeEach(async () => {
  usages.length = 0;
  notes.length = 0;
  respond = {};
  endpoint = await startFakeHttpEndpoint((response) => {
    const model = bodies().at(-1)?.['model'];
    (respond[typeof model === 'string' ? model : ''] ?? answer)(response);
  });
});

afterEach(() => endpoint.close());

const bodies = (): Record<string, unknown>[] => endpoint.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>);

function open(settings: SettingsInput = {}, more: Partial<AttemptModelsOptions> = {}): { models: AttemptModels; source: ModelSource } {
  const signal = new AbortController().signal;
  const options = { ...openGate(settings), signal: () => signal, onUsage: (used: AgentUsage) => void usages.push(used) };
  const baseUrl = `${endpoint.url}/v1`;
  const account = accountOf({}, { baseUrl, apiKey: 'sk', isOperators: true });
  const fetchFor = createModelFetch({
    fleetId: () => Promise.resolve('f'),
    directory: '.',
    openaiBaseUrl: baseUrl,
    openaiApiKey: undefined,
    readSecret: () => undefined,
    allowNetworks: [],
    maxResponseBytes: 100_000,
  });
  const source = openModelSource({
    baseUrl,
    apiKey: 'sk',
    name: 'a',
    account,
    fetch: fetchFor(baseUrl),
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    ownCostOf: () => undefined,
  });
  return { models: new AttemptModels({ ...options, onNote: (note) => void notes.push(note), ...more }), source };
}

/** What a budget says of every call. */
const usedUp: Extract<SpendAnswer, { kind: 'exceeded' }> = {
  kind: 'exceeded',
  budget: { ...budgetSchema.parse({ scope: 'tenant', per: 'total', hardMicroUsd: 1 }), id: 'all', origin: 'config' },
  counted: '',
  usedMicroUsd: 1,
  reservedMicroUsd: 0,
  requestedMicroUsd: 0,
  neededMicroUsd: 0,
  lineMicroUsd: 1,
  until: null,
  atHard: 'deny',
  isForCalls: false,
  downgradeTo: null,
};

const quiet = { maxRetries: 0, onError: () => undefined } as const;

describe('the model calls of an attempt', () => {
  it('count what the provider says of a call that came at once', async () => {
    const { models, source } = open();
    expect((await generateText({ model: models.wrap(source), prompt: 'hello' })).text).toBe('Hi');
    expect(usages).toEqual([{ model: 'a', inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 0 }]);
  });

  it('count a stream before its caller sees the end', async () => {
    respond['a'] = stream;
    const { models, source } = open();
    let counted = 0;
    const { stream: parts } = streamText({ model: models.wrap(source), prompt: 'hello', ...quiet });
    for await (const part of parts) if (part.type === 'finish') counted = usages.length;
    expect(counted).toBe(1);
    expect(usages).toMatchObject([{ inputTokens: 100, outputTokens: 20 }]);
  });

  it('answer before Redis has counted them, and have counted when the attempt ends', async () => {
    const counted = Promise.withResolvers<null>();
    const { spending } = openGate();
    let isSettled = false;
    const settle = async (): Promise<null> => {
      await counted.promise;
      isSettled = true;
      return null;
    };
    respond['a'] = stream;
    const { models, source } = open({}, { spending: { ...spending, settle } });
    const model = models.wrap(source);
    expect(await streamText({ model, prompt: 'hello', ...quiet }).text).toBe('Good ');
    respond['a'] = answer;
    expect((await generateText({ model, prompt: 'hello' })).text).toBe('Hi');
    expect(usages).toHaveLength(2);
    expect(isSettled).toBe(false);
    const closing = models.close();
    counted.resolve(null);
    await closing;
    expect(isSettled).toBe(true);
  });

  it('are reported after their caller went on, and before the next one is admitted', async () => {
    const order: string[] = [];
    const { spending } = openGate();
    const reserve: typeof spending.reserve = (...request) => (order.push('admitted'), spending.reserve(...request));
    const settle: typeof spending.settle = (...call) => (order.push('reported'), spending.settle(...call));
    const { models, source } = open({}, { spending: { reserve, settle } });
    const model = models.wrap(source);
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
    for (const answered of ['first', 'second']) {
      await model.doGenerate({ prompt });
      order.push(answered);
    }
    await models.close();
    expect(order).toEqual(['admitted', 'first', 'reported', 'admitted', 'second', 'reported']);
  });

  it('estimate what a stream used that was cut', async () => {
    respond['a'] = (response) => (begin(response), setImmediate(() => response.destroy()));
    const { models, source } = open();
    await streamText({ model: models.wrap(source), prompt: 'hello', ...quiet }).consumeStream();
    await models.close();
    expect(usages).toMatchObject([{ model: 'a', isEstimated: true }]);
    expect(usages[0]?.inputTokens).toBeGreaterThan(5);
    expect(usages[0]?.outputTokens).toBe(2);
  });

  it('settle a stream that the agent left, once', async () => {
    respond['a'] = begin;
    const { models, source } = open();
    const reader = (
      await models.wrap(source).doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] })
    ).stream.getReader();
    await reader.read();
    await models.close();
    await reader.cancel();
    expect(usages).toMatchObject([{ model: 'a', isEstimated: true }]);
  });

  it('count nothing for a call that was refused', async () => {
    respond['a'] = fail;
    const { models, source } = open();
    await expect(generateText({ model: models.wrap(source), prompt: 'hello' })).rejects.toMatchObject({ code: 'PROVIDER_ERROR' });
    expect(usages).toEqual([]);
    expect(models.failure).toMatchObject({ code: 'PROVIDER_ERROR' });
    expect(endpoint.requests).toHaveLength(1);
  });

  it('wait for a Redis that is away', async () => {
    const gate = openGate();
    let requests = 0;
    const admitCall: AttemptModelsOptions['throttle']['admitCall'] = async (call, signal) => {
      requests += 1;
      if (requests === 1) throw new Error('Connection is closed.');
      return await gate.throttle.admitCall(call, signal);
    };
    const { models, source } = open({}, { throttle: { ...gate.throttle, admitCall } });
    expect((await generateText({ model: models.wrap(source), prompt: 'hello' })).text).toBe('Hi');
    expect(requests).toBe(2);
  });

  it('are counted also when Redis is away at their end', async () => {
    const { spending } = openGate();
    let settled = 0;
    const settle: typeof spending.settle = () => {
      settled += 1;
      return settled === 1 ? Promise.reject(new Error('Connection is closed.')) : Promise.resolve();
    };
    const { models, source } = open({}, { spending: { ...spending, settle } });
    await generateText({ model: models.wrap(source), prompt: 'hello' });
    await models.close();
    expect(settled).toBe(2);
  });

  it('ask their provider for room for all that they may answer', async () => {
    const { throttle } = openGate();
    const asked: number[] = [];
    const admitCall: typeof throttle.admitCall = (call, signal) => (asked.push(call.tokens), throttle.admitCall(call, signal));
    const { models, source } = open({}, { throttle: { ...throttle, admitCall } });
    respond['a'] = (response) => answerCompletion(response, { ...usage, prompt_tokens: 1 });
    for (const maxOutputTokens of [1, 1001]) await generateText({ model: models.wrap(source), prompt: 'hello', maxOutputTokens });
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBe(1000);
  });

  it('bound the output of a model with a price, and of one with a bound', async () => {
    const { models, source } = open({
      models: { a: { inputUsdPerMTok: 1, outputUsdPerMTok: 1 }, b: { maxOutputTokens: 77 } },
      modelCalls: { maxOutputTokens: 500 },
    });
    for (const name of ['a', 'b', 'c']) await generateText({ model: models.wrap({ ...source, name }), prompt: 'hello' });
    await generateText({ model: models.wrap({ ...source, name: 'd', ownCostOf: () => 1 }), prompt: 'hello' });
    await generateText({ model: models.wrap(source), prompt: 'hello', maxOutputTokens: 5 });
    expect(bodies().map(({ max_tokens: bound }) => bound)).toEqual([500, 77, undefined, 500, 5]);
  });

  it('go with a smaller bound where their budgets have no more left', async () => {
    const settings = { models: { a: { inputUsdPerMTok: 0, outputUsdPerMTok: 10 } }, modelCalls: { maxOutputTokens: 500 } };
    const asked: object[] = [];
    const { spending } = openGate();
    const reserve: typeof spending.reserve = async (request, amounts) => {
      asked.push(amounts);
      return { ...(await spending.reserve(request, amounts)), amountMicroUsd: 3000 };
    };
    const { models, source } = open(settings, { spending: { ...spending, reserve } });
    await generateText({ model: models.wrap(source), prompt: 'hello' });
    await generateText({ model: models.wrap(source), prompt: 'hello', maxOutputTokens: 5 });
    expect(bodies().map(({ max_tokens: bound }) => bound)).toEqual([300, 5]);
    expect(asked).toEqual([
      { max: 5000, usual: 5000, least: 2560 },
      // The answer before had 20 tokens, the bound is 5.
      { max: 200, usual: 200, least: 50 },
    ]);
  });

  it('reserve by the tokens that their provider counted, and by what they usually answer', async () => {
    const settings = { models: { a: { inputUsdPerMTok: 1, outputUsdPerMTok: 1 } }, modelCalls: { minOutputTokens: 10 } };
    const { spending } = openGate();
    const asked: object[] = [];
    const reserve: typeof spending.reserve = (request, amounts) => (asked.push(amounts), spending.reserve(request, amounts));
    const { models, source } = open(settings, { spending: { ...spending, reserve } });
    respond['a'] = (response) => answerCompletion(response, { ...usage, prompt_tokens: 1000 });
    for (const prompt of ['x'.repeat(1300), 'x'.repeat(1300), 'x'.repeat(2626)]) await generateText({ model: models.wrap(source), prompt });
    expect(asked).toEqual([
      { max: 398 + 4096, usual: 398 + 4096, least: 398 + 10 },
      { max: 1000 + 4096, usual: 1000 + 30, least: 1000 + 10 },
      { max: 2000 + 4096, usual: 2000 + 30, least: 2000 + 10 },
    ]);
  });
});

const atWall: AttemptModelsOptions['throttle']['admitCall'] = () => {
  const hold = { gate: 'provider', what: 'a' } as const;
  return Promise.resolve({ kind: 'wait', because: 'wall', scope: 'model', untilMs: 1, holdMs: 1000, hold, place: waitingPlace('a') });
};

describe('what a call got that does not go', () => {
  const given: string[] = [];
  beforeEach(() => void (given.length = 0));

  /** A gate that opens for a call that tries a circuit, and keeps what comes back. */
  const openProbe = (): Omit<AttemptModelsOptions, 'signal' | 'onUsage'> => {
    const gate = openGate();
    return {
      ...gate,
      circuits: {
        admit: () => Promise.resolve({ kind: 'go', isKnown: true, isProbe: true, name: 'c' }),
        release: () => Promise.resolve(void given.push('probe')),
        report: () => Promise.resolve(void given.push('report')),
      },
      spending: { ...gate.spending, settle: (_call, cost) => Promise.resolve(given.push(`money ${cost}`)) },
      throttle: { ...gate.throttle, reportCall: (_permit, { tokens }) => Promise.resolve((given.push(`permit ${tokens}`), null)) },
    };
  };

  it('comes back at once when its provider has no room', async () => {
    const gate = openProbe();
    const { models, source } = open({}, { ...gate, throttle: { ...gate.throttle, admitCall: atWall } });
    await expect(generateText({ model: models.wrap(source), prompt: 'hello' })).rejects.toBeInstanceOf(HeldFailure);
    expect(given.toSorted()).toEqual(['money 0', 'probe']);
  });

  it('comes back, with its place among those that wait for the provider, when a budget refuses it', async () => {
    const gate = openProbe();
    const leave = (): Promise<void> => Promise.resolve(void given.push('place'));
    const { models, source } = open(
      {},
      {
        ...gate,
        spending: { ...gate.spending, reserve: () => Promise.resolve(usedUp) },
        throttle: { ...gate.throttle, admitCall: atWall, leave },
      },
    );
    await expect(generateText({ model: models.wrap(source), prompt: 'hello' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    expect(given.toSorted()).toEqual(['place', 'probe']);
  });

  it('comes back when a part of the gate fails', async () => {
    const gate = openProbe();
    const { models, source } = open({}, { ...gate, spending: { ...gate.spending, reserve: () => Promise.reject(new Error('a defect')) } });
    await expect(generateText({ model: models.wrap(source), prompt: 'hello', maxRetries: 0 })).rejects.toThrow('a defect');
    expect(given.toSorted()).toEqual(['permit 0', 'probe']);
  });

  it('comes back when it is stopped on its way, and says nothing of the endpoint', async () => {
    respond['a'] = () => stopped.abort(new Error('cancelled'));
    const stopped = new AbortController();
    const { models, source } = open({}, openProbe());
    await expect(generateText({ model: models.wrap(source), prompt: 'hello', abortSignal: stopped.signal })).rejects.toThrow(
      /cancelled|abort/,
    );
    await models.close();
    expect(given).toContain('probe');
    expect(given).not.toContain('report');
  });
});

describe('an endpoint that hangs', () => {
  const reasons: (string | null)[] = [];
  beforeEach(() => void (reasons.length = 0));

  const report: AttemptModelsOptions['circuits']['report'] = (_call, why) => Promise.resolve(void reasons.push(why));

  const callUntil = async (reason: Error, settings: SettingsInput): Promise<void> => {
    const stopped = new AbortController();
    respond['a'] = () => stopped.abort(reason);
    const { circuits, ...gate } = openGate(settings);
    const { models, source } = open(settings, { ...gate, circuits: { ...circuits, report }, now: () => (ticks += 20) });
    await expect(generateText({ model: models.wrap(source), prompt: 'hello', abortSignal: stopped.signal })).rejects.toThrow(
      /cancelled|too long|abort/,
    );
    await models.close();
  };
  let ticks = 0;

  it('has failed its circuit when a timeout ends the call', async () => {
    await callUntil(new DOMException('too long', 'TimeoutError'), { circuits: { silenceMs: 20 } });
    expect(reasons).toEqual(['nothing came for 20 ms']);
  });

  it('has not when a person ends the call, nor when the timeout comes soon', async () => {
    await callUntil(new Error('cancelled'), { circuits: { silenceMs: 20 } });
    await callUntil(new DOMException('too long', 'TimeoutError'), { circuits: { silenceMs: 1000 } });
    expect(reasons).toEqual([]);
  });
});

const refuse = (response: ServerResponse): void => void response.writeHead(429).end('{"error":{"message":"slow down"}}');
const reportCall: AttemptModelsOptions['throttle']['reportCall'] = (_permit, { status }) =>
  Promise.resolve(
    status === 429
      ? { because: 'cooldown', scope: 'model', untilMs: 1, hold: { gate: 'provider', what: 'a' }, holdMs: 1000, place: waitingPlace('a') }
      : null,
  );

describe('a call that its provider refused', () => {
  const throttle = { ...openGate().throttle, reportCall };
  const held = { code: 'THROTTLED', hold: { gate: 'provider', what: 'a' }, retryAfterMs: 1000, cause: { code: 'THROTTLED' } };

  it('holds the attempt, be it the first call or a later one', async () => {
    const { models, source } = open({}, { throttle });
    const call = (): Promise<unknown> => generateText({ model: models.wrap(source), prompt: 'hello' }).catch((error: unknown) => error);
    respond['a'] = refuse;
    const first = await call();
    expect(first).toBeInstanceOf(HeldFailure);
    expect(first).toMatchObject(held);
    respond['a'] = answer;
    expect(await call()).toMatchObject({ text: 'Hi' });
    respond['a'] = refuse;
    expect(await call()).toMatchObject(held);
    expect(models.failure).toMatchObject(held);
  });

  it('is answered by a fallback', async () => {
    respond = { a: refuse, b: answer };
    const { models, source } = open({ models: { a: { fallback: ['b'] } } }, { throttle });
    expect((await generateText({ model: models.wrap(source), prompt: 'hello' })).text).toBe('Hi');
    expect(models.failure).toBeUndefined();
  });
});

describe('a used up budget that downgrades', () => {
  const { spending, throttle } = openGate();
  const reserve: typeof spending.reserve = (request, amounts) =>
    request.beyond?.includes('all') === true
      ? spending.reserve(request, amounts)
      : Promise.resolve({ ...usedUp, atHard: 'downgrade', downgradeTo: 'small' });

  it('leaves its model only, and no fallback of the requested one', async () => {
    respond = { small: fail };
    const { models, source } = open({ models: { a: { fallback: ['b'] } } }, { spending: { ...spending, reserve } });
    await expect(generateText({ model: models.wrap(source), prompt: 'hello', maxRetries: 0 })).rejects.toMatchObject({
      code: 'PROVIDER_ERROR',
    });
    expect(bodies().map(({ model }) => model)).toEqual(['small']);
  });

  it('waits for the provider of its model when that takes no calls', async () => {
    const admitCall: typeof throttle.admitCall = async (call, signal) =>
      await (call.model === 'small' ? atWall : throttle.admitCall)(call, signal);
    const { models, source } = open({}, { spending: { ...spending, reserve }, throttle: { ...throttle, admitCall } });
    await expect(generateText({ model: models.wrap(source), prompt: 'hello', maxRetries: 0 })).rejects.toBeInstanceOf(HeldFailure);
    expect(bodies()).toEqual([]);
  });
});

describe('a fallback', () => {
  const settings = { models: { a: { fallback: ['b', 'c'] } } };

  it('answers instead of a model that fails before its answer begins, and is noted', async () => {
    respond = { a: fail, b: (response) => void response.writeHead(429).end('{}'), c: stream };
    const { models, source } = open(settings);
    expect(await streamText({ model: models.wrap(source), prompt: 'hello', ...quiet }).text).toBe('Good ');
    expect(bodies().map(({ model }) => model)).toEqual(['a', 'b', 'c']);
    expect(usages).toMatchObject([{ model: 'c' }]);
    expect(notes).toHaveLength(2);
    expect(notes[0]).toBe('a: The endpoint answered 500: out of order; b was called instead');
    expect(models.substituted).toEqual({ model: 'c', notes });
  });

  it('is called at the endpoint of another agent, with its key, where the configuration says so', async () => {
    const models = { a: { fallback: ['b', 'c'] }, b: { endpointOf: 'spare' } };
    const other = await startFakeHttpEndpoint(stream);
    onTestFinished(() => other.close());
    const { models: calls, source } = open({ models });
    respond = { a: fail };
    const operatorAgents = { spare: { kind: 'openai', model: 'x', baseUrl: `${other.url}/v1`, apiKey: 'sk-spare' } } as const;
    const options = { models, operatorAgents, openaiBaseUrl: undefined, openaiApiKey: undefined, readSecret: () => undefined };
    const elsewhere = openElsewhere(options, () => fetch as unknown as GuardedFetch, '');
    expect(await streamText({ model: calls.wrap({ ...source, elsewhere }), prompt: 'hello', ...quiet }).text).toBe('Good ');
    expect(bodies().map(({ model }) => model)).toEqual(['a']);
    expect(other.requests.map(({ headers, body }) => [headers.authorization, (JSON.parse(body) as { model: string }).model])).toEqual([
      ['Bearer sk-spare', 'b'],
    ]);
    expect(calls.substituted).toMatchObject({ model: 'b' });
    expect(elsewhere('c')).toBeNull();
  });

  it('is not called for a wrong request, nor once the answer has begun', async () => {
    respond = { a: (response) => void response.writeHead(400).end('{"error":{"message":"no"}}') };
    const { models, source } = open(settings);
    await expect(generateText({ model: models.wrap(source), prompt: 'hello' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    respond['a'] = (response) => (begin(response), setImmediate(() => response.destroy()));
    await streamText({ model: models.wrap(source), prompt: 'hello', ...quiet }).consumeStream();
    expect(bodies().map(({ model }) => model)).toEqual(['a', 'a']);
  });

  it('is called while a model is behind a wall; with all walled, the attempt is held', async () => {
    const gate = openGate(settings);
    const walled = new Set(['a']);
    const admitCall: AttemptModelsOptions['throttle']['admitCall'] = async (call, signal) =>
      walled.has(call.model)
        ? {
            kind: 'wait',
            because: 'wall',
            scope: 'model',
            untilMs: 1,
            hold: { gate: 'provider', what: call.model },
            holdMs: 1000,
            place: waitingPlace(call.model),
          }
        : await gate.throttle.admitCall(call, signal);
    const left: string[] = [];
    const leave: AttemptModelsOptions['throttle']['leave'] = ({ model }) => Promise.resolve(void left.push(model));
    const { models, source } = open(settings, { throttle: { ...gate.throttle, admitCall, leave } });
    await generateText({ model: models.wrap(source), prompt: 'hello' });
    expect(bodies().map(({ model }) => model)).toEqual(['b']);
    // Its task waits for no model any more.
    expect(left.splice(0)).toEqual(['a']);
    for (const name of ['b', 'c']) walled.add(name);
    const held = await generateText({ model: models.wrap(source), prompt: 'hello' }).catch((error: unknown) => error);
    expect(held).toBeInstanceOf(HeldFailure);
    expect(held).toMatchObject({ hold: { gate: 'provider', what: 'a' } });
    expect(left.toSorted()).toEqual(['b', 'c']);
    expect(bodies()).toHaveLength(1);
  });

  it('is called while the slowest twentieth of the answers begins too late', async () => {
    const { models, source } = open({ models: { a: { fallback: ['b'], maxP95Ms: 100 } } });
    const { latencies } = openGate();
    const slow = open({ models: { a: { fallback: ['b'], maxP95Ms: 100 } } }, { latencies }).models;
    for (let call = 0; call < 20; call += 1) latencies.add(`${source.account.name} a`, call < 18 ? 1 : 500);
    await generateText({ model: slow.wrap(source), prompt: 'hello' });
    await generateText({ model: models.wrap(source), prompt: 'hello' });
    expect(bodies().map(({ model }) => model)).toEqual(['b', 'a']);
    expect(slow.substituted).toEqual({ model: 'b', notes: ['a: its answers begin too late; b was called instead'] });
    expect(models.substituted).toEqual({});
  });

  it('is left out while its own endpoint begins its answers too late', async () => {
    const models = { a: { fallback: ['b', 'c'], maxP95Ms: 100 }, b: { endpointOf: 'spare', maxP95Ms: 100 }, c: {} };
    const { latencies } = openGate();
    const { models: calls, source } = open({ models }, { latencies });
    const operatorAgents = { spare: { kind: 'openai', model: 'x', baseUrl: 'https://spare.example/v1', apiKey: 'sk-spare' } } as const;
    const options = { models, operatorAgents, openaiBaseUrl: undefined, openaiApiKey: undefined, readSecret: () => undefined };
    const elsewhere = openElsewhere(options, () => fetch as unknown as GuardedFetch, '');
    for (let call = 0; call < 20; call += 1) {
      latencies.add(`${source.account.name} a`, 500);
      latencies.add(`${elsewhere('b')?.account.name} b`, 500);
    }
    await generateText({ model: calls.wrap({ ...source, elsewhere }), prompt: 'hello' });
    expect(bodies().map(({ model }) => model)).toEqual(['c']);
  });
});
