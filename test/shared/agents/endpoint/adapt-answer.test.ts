import { generateText } from 'ai';
import { describe, expect, it } from 'vitest';
import type { TaskFailure } from '#shared/errors/task-failure.ts';
import { streamError } from '#shared/models/call-failure.ts';
import { type EndpointAnswer, events, modelAt, piece, readParts } from '../../../support/agents/model-endpoint.ts';

const URL = 'http://models.test/v1';
const STOP = { finish_reason: 'stop' };
const hi = piece('Hi', { finish_reason: null });
const json = (body: object): EndpointAnswer => ({ type: 'application/json', body: JSON.stringify(body) });

async function answered(answer: EndpointAnswer): Promise<{ text: string; reason: string | undefined; tokens: (number | undefined)[] }> {
  const { parts, text } = await readParts(modelAt(URL, [answer]).source);
  const finish = parts.find((part) => part.type === 'finish');
  expect(parts.filter(({ type }) => type === 'error')).toEqual([]);
  return {
    text,
    reason: finish?.finishReason.raw,
    tokens: [finish?.usage.inputTokens.total, finish?.usage.inputTokens.cacheRead, finish?.usage.outputTokens.total],
  };
}

async function failureOf(answer: EndpointAnswer): Promise<TaskFailure> {
  const { source } = modelAt(URL, [answer]);
  const error: unknown = await readParts(source).then(
    ({ parts }) => streamError(parts.find((part) => part.type === 'error')?.error),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeDefined();
  return source.failureOf(error);
}

describe('a stream', () => {
  it.each<[string, string, string]>([
    ['whose chunks have empty reasons', events(piece('Hi', { finish_reason: '' }), piece('', STOP), '[DONE]'), 'stop'],
    ['that is done without a reason', events(hi, '[DONE]'), 'unknown'],
    ['that is done without a reason, with null', events(hi, piece(null, { finish_reason: null }), '[DONE]'), 'unknown'],
    ['that is done in other letters', events(hi, ' [done]'), 'unknown'],
    ['without that word', events(hi, piece(null, STOP)), 'stop'],
    ['with comments and pings', `: keep-alive\n\n${events(hi, { type: 'ping' }, piece(null, STOP), '[DONE]')}`, 'stop'],
    ['of another role', events({ choices: [{ delta: { role: 'model', content: 'Hi' } }] }, piece(null, STOP)), 'stop'],
    ['of messages in place of deltas', events({ choices: [{ message: { role: 'assistant', content: 'Hi' }, ...STOP }] }), 'stop'],
    ['with a chunk that has no choices', events({ choices: null, usage: { prompt_tokens: 1 } }, hi, piece(null, STOP)), 'stop'],
    ['with another end of lines', events(hi, piece(null, STOP)).replaceAll('\n', '\r\n'), 'stop'],
    ['that names an error that is none', events({ ...hi, error: null }, piece(null, STOP)), 'stop'],
  ])('%s is an answer', async (_what, body, reason) => {
    expect(await answered({ body })).toMatchObject({ text: 'Hi', reason });
  });

  it.each<[string, object]>([
    ['OpenAI', { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 3 } } }],
    [
      'Groq',
      { ...piece(null, STOP), x_groq: { usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 3 } } } },
    ],
    ['Moonshot', piece(null, { ...STOP, usage: { prompt_tokens: 9, completion_tokens: 4, cached_tokens: 3 } })],
    ['DeepSeek', { ...piece(null, STOP), usage: { prompt_tokens: 9, completion_tokens: 4, prompt_cache_hit_tokens: 3 } }],
    ['Google', { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1, thoughtsTokenCount: 3, cachedContentTokenCount: 3 } }],
    ['xAI', { choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 13, cached_tokens: 3 } }],
  ])('has the usage of %s', async (_provider, usage) => {
    expect((await answered({ body: events(hi, piece(null, STOP), usage, '[DONE]') })).tokens).toEqual([9, 3, 4]);
  });

  it('without any usage leaves the tokens to an estimate', async () => {
    expect((await answered({ body: events(hi, piece(null, STOP)) })).tokens).toEqual([undefined, 0, undefined]);
  });

  it.each<[string, string, string, number | undefined]>([
    ['by name', events(hi, { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }), 'THROTTLED', 30_000],
    [
      'with a time in its details',
      events(hi, [{ error: { code: 429, message: 'Full', details: [{ retryDelay: '37s' }] } }]),
      'THROTTLED',
      37_000,
    ],
    ['as text', events(hi, 'Rate limit exceeded, try again in 20s'), 'THROTTLED', 20_000],
    ['as a text in JSON', events(hi, { error: 'too many requests' }), 'THROTTLED', 30_000],
    [
      'as an event of its own name',
      `${events(hi)}event: error\n${events({ code: 'overloaded', message: 'Busy' })}`,
      'PROVIDER_ERROR',
      undefined,
    ],
    [
      "in Anthropic's form",
      events(hi, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
      'PROVIDER_ERROR',
      undefined,
    ],
    [
      "in vLLM's form",
      events(hi, { object: 'error', message: 'Too long', type: 'BadRequestError', code: 400 }),
      'INVALID_INPUT',
      undefined,
    ],
    [
      'beside choices',
      events({ ...piece('', { finish_reason: 'error' }), error: { code: 402, message: 'No credits' } }),
      'PROVIDER_QUOTA',
      300_000,
    ],
    ['of money', events(hi, { error: { message: 'No', type: 'insufficient_quota' } }), 'PROVIDER_QUOTA', 300_000],
    ['before anything else', events({ error: { message: 'No', code: 401 } }), 'PERMISSION_DENIED', undefined],
    ['as a text without events', 'Too many requests, retry after 5 seconds', 'THROTTLED', 5000],
    ['as its only line, without an end', 'data: {"error":{"message":"Full","code":429}}', 'THROTTLED', 30_000],
  ])('fails by an error %s', async (_what, body, code, retryAfterMs) => {
    const failure = await failureOf({ body });
    expect([failure.code, failure.retryAfterMs]).toEqual([code, retryAfterMs]);
  });

  it('that ends without a reason and without a word of its end was cut', async () => {
    expect(await failureOf({ body: events(hi) })).toMatchObject({ code: 'NETWORK_ERROR' });
  });
});

describe('a body of 200 that is JSON', () => {
  it.each<[string, object, string, number | undefined]>([
    ['by name', { error: { message: 'Slow down', type: 'rate_limit_error' } }, 'THROTTLED', 30_000],
    ['in a list', [{ error: { code: 429, message: 'Full', details: [{ retryDelay: '37s' }] } }], 'THROTTLED', 37_000],
    ['by number', { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }, 'PROVIDER_QUOTA', 300_000],
    ['without a name', { detail: 'Internal trouble' }, 'PROVIDER_ERROR', undefined],
    ['of a wrong key', { success: false, errors: [{ code: 'invalid_api_key', message: 'No' }] }, 'PERMISSION_DENIED', undefined],
  ])('fails by an error %s', async (_what, body, code, retryAfterMs) => {
    const failure = await failureOf(json(body));
    expect([failure.code, failure.retryAfterMs]).toEqual([code, retryAfterMs]);
    const { source } = modelAt(URL, [json(body)]);
    const thrown: unknown = await generateText({ model: source.modelFor('m'), prompt: 'x', maxRetries: 0 }).catch(
      (error: unknown) => error,
    );
    expect([source.failureOf(thrown).code, source.failureOf(thrown).retryAfterMs]).toEqual([code, retryAfterMs]);
  });

  it('is an answer where a stream was asked for', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' }];
    const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 13, cached_tokens: 3 };
    expect(await answered(json({ id: 'x', choices, usage }))).toEqual({ text: 'Hi', reason: 'length', tokens: [9, 3, 4] });
  });
});
