import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentRunner, DefinitionOf } from '#shared/agents/agent-kind.ts';
import { createAgentRunners } from '#shared/agents/agent-kinds.ts';
import type { FinishReason } from '#shared/config/define-config.ts';
import { readFinishReason } from '#shared/providers/answers/index.ts';
import { failureOf, observeRun } from '../../../support/agents/agent-run.ts';
import { events, piece } from '../../../support/agents/model-endpoint.ts';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';

const agent: DefinitionOf<'openai'> = { kind: 'openai', model: 'small' };

/** The words of providers for the end of an answer, and what each is for Muster. */
const ENDINGS: readonly [word: string, from: string, reason: FinishReason][] = [
  ['stop', 'OpenAI', 'stop'],
  ['length', 'OpenAI', 'length'],
  ['content_filter', 'OpenAI', 'content_filter'],
  ['end_turn', 'Anthropic', 'stop'],
  ['stop_sequence', 'Anthropic, TGI', 'stop'],
  ['max_tokens', 'Anthropic', 'length'],
  ['refusal', 'Anthropic', 'content_filter'],
  ['model_context_window_exceeded', 'Anthropic, Zhipu', 'length'],
  ['STOP', 'Google', 'stop'],
  ['FinishReason.MAX_TOKENS', 'Google', 'length'],
  ['SAFETY', 'Google', 'content_filter'],
  ['RECITATION', 'Google', 'content_filter'],
  ['PROHIBITED_CONTENT', 'Google', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', 'Google', 'error'],
  ['model_length', 'Mistral', 'length'],
  ['error', 'Mistral, OpenRouter', 'error'],
  ['insufficient_system_resource', 'DeepSeek', 'error'],
  ['sensitive', 'Zhipu', 'content_filter'],
  ['network_error', 'Zhipu', 'error'],
  ['eos', 'Together', 'stop'],
  ['abort', 'vLLM, SGLang', 'error'],
  ['eos_token', 'TGI', 'stop'],
  ['COMPLETE', 'Cohere', 'stop'],
  ['ERROR_TOXIC', 'Cohere', 'content_filter'],
  ['USER_CANCEL', 'Cohere', 'error'],
  ['guardrail_intervened', 'Bedrock', 'content_filter'],
  ['time_limit', 'watsonx', 'length'],
  ['cancelled', 'watsonx', 'error'],
  ['unload', 'Ollama', 'error'],
  ['max_new_tokens', 'gateways', 'length'],
  ['flagged', 'gateways', 'content_filter'],
  ['model_error', 'gateways', 'error'],
  ['something new', 'nobody yet', 'unknown'],
];

let endpoint: FakeHttpEndpoint;
let runOpenai: AgentRunner<DefinitionOf<'openai'>>;
let answer = '';

beforeAll(async () => {
  endpoint = await startFakeHttpEndpoint((response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer));
  runOpenai = createAgentRunners({
    fleetId: () => Promise.resolve('f'),
    directory: '.',
    openaiBaseUrl: endpoint.url,
    openaiApiKey: 'sk',
    readSecret: () => undefined,
    allowNetworks: [],
    maxResponseBytes: 100_000,
  }).openai;
});

afterAll(() => endpoint.close());

const thought = { choices: [{ index: 0, delta: { reasoning_content: 'Hm' } }] };
const ending = (word: string): object => piece(null, { finish_reason: word });
const usage = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } };
const cut = ENDINGS.filter(([, , reason]) => reason === 'length' || reason === 'content_filter');
const good = ENDINGS.filter(([, , reason]) => reason !== 'error');
const broken = ENDINGS.filter(([, , reason]) => reason === 'error');

describe('an answer with some text', () => {
  it.each(good)('that ends by %s (%s) completes, and says %s', async (word, _from, finishReason) => {
    answer = events(piece('Half of it'), ending(word), usage, '[DONE]');
    const { run, written } = observeRun(agent);
    expect(await runOpenai(run)).toEqual({ finishReason });
    expect(written).toEqual(['Half of it']);
  });

  it.each(broken)('that ends by %s (%s) is tried again, and what it used counts', async (word) => {
    answer = events(piece('Half of it'), ending(word), usage, '[DONE]');
    const { run, usages } = observeRun(agent);
    const failure = await failureOf(runOpenai(run));
    expect(failure).toMatchObject({ code: 'PROVIDER_ERROR', class: 'transient', details: { finishReason: word } });
    expect(failure.message).toContain(word);
    expect(usages).toMatchObject([{ inputTokens: 7, outputTokens: 3 }]);
  });

  it('says that it was cut when an earlier one of the run was', async () => {
    answer = events(piece('Half'), ending('length'), '[DONE]');
    const { run, say } = observeRun(agent, { onWrite: () => (answer = events(piece(' of it'), ending('stop'), '[DONE]')) });
    say('go on');
    expect(await runOpenai(run)).toEqual({ finishReason: 'length' });
  });

  it('that is refused by the model is one that was held back', async () => {
    answer = events({ choices: [{ index: 0, delta: { refusal: 'I will not' } }] }, ending('stop'), '[DONE]');
    expect(await runOpenai(observeRun(agent).run)).toEqual({ finishReason: 'content_filter' });
  });
});

describe('an answer without any text', () => {
  it.each(cut)('that ends by %s (%s) fails for good, as %s', async (word, _from, finishReason) => {
    for (const before of [[], [thought], [piece(' \n')]]) {
      answer = events(...before, ending(word), usage, '[DONE]');
      const failure = await failureOf(runOpenai(observeRun(agent).run));
      expect(failure).toMatchObject({ code: 'NO_ANSWER', class: 'permanent', details: { finishReason } });
    }
  });

  it.each(['stop', 'tool_calls', 'something new'])('that was thought about and ends by %s is tried again', async (word) => {
    answer = events(thought, ending(word), '[DONE]');
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'PROVIDER_ERROR', class: 'transient' });
  });

  it('that calls a tool, of which the agent has none, is tried again', async () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'search', arguments: '{}' } };
    answer = events({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }, ending('tool_calls'), '[DONE]');
    expect(await failureOf(runOpenai(observeRun(agent).run))).toMatchObject({ code: 'PROVIDER_ERROR', class: 'transient' });
  });

  it('that was not thought about completes', async () => {
    answer = events(piece(''), ending('stop'), '[DONE]');
    expect(await runOpenai(observeRun(agent).run)).toEqual({ finishReason: 'stop' });
  });
});

it.each([undefined, null, '', '...', 'x'.repeat(100_000)])('a word that is none (%#) is unknown', (word) => {
  expect(readFinishReason(word)).toBe('unknown');
});
