import { generateText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AttemptModels } from '#shared/models/attempt-models.ts';
import { openGate } from '../../support/agents/open-gate.ts';
import { modelAt, type SentRequest } from '../../support/agents/model-endpoint.ts';

const ANSWER = {
  type: 'application/json',
  body: JSON.stringify({ id: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }),
};

/** The request of a call with a bound to the endpoint at this URL. */
async function sentTo(baseUrl: string, apiKey = 'sk'): Promise<SentRequest> {
  const { source, sent } = modelAt(baseUrl, [ANSWER], { apiKey });
  await generateText({ model: source.modelFor('m'), prompt: 'hello', maxOutputTokens: 7 });
  const [request] = sent;
  if (request === undefined) throw new Error('Nothing was sent');
  return request;
}

const AZURE = [
  'https://mine.openai.azure.com/openai/v1',
  'https://mine.openai.azure.com/openai/deployments/m?api-version=2024-10-21',
  'https://mine.cognitiveservices.azure.com/openai/v1',
  'https://mine.services.ai.azure.com/models?api-version=2024-05-01-preview',
  'https://gateway.azure-api.net/openai/v1/',
  'https://mine.openai.azure.us/openai/v1',
  'https://mine.openai.azure.cn/openai/v1',
  'https://mine.cognitiveservices.azure.us/openai/v1',
  'https://gateway.azure-api.us/openai/v1',
  'https://mine.eastus.models.ai.azure.com/v1',
];
const OTHERS = [
  'https://models.example/v1',
  'https://api.openai.com.example/v1',
  'https://notapi.openai.com.example/v1',
  'https://mine.openai.azure.com.example/v1',
  'https://openai.azure.com/v1',
];

describe('the bound of a call', () => {
  it.each(['https://api.openai.com/v1', 'https://eu.api.openai.com/v1', ...AZURE])(
    'has the name that newer models of OpenAI take at %s',
    async (baseUrl) => {
      const { body } = await sentTo(baseUrl);
      expect(body).toMatchObject({ max_completion_tokens: 7 });
      expect(body).not.toHaveProperty('max_tokens');
    },
  );

  it.each(OTHERS)('has the name that every endpoint takes at %s', async (baseUrl) => {
    const { body } = await sentTo(baseUrl);
    expect(body).toMatchObject({ max_tokens: 7 });
    expect(body).not.toHaveProperty('max_completion_tokens');
  });
});

describe('the key', () => {
  it.each(AZURE)('goes in the header of Azure at %s', async (baseUrl) => {
    const { headers } = await sentTo(baseUrl);
    expect(headers).toMatchObject({ 'api-key': 'sk' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it('goes in the header of API Management too, where that stands in front', async () => {
    expect((await sentTo('https://gateway.azure-api.net/openai/v1')).headers).toMatchObject({ 'ocp-apim-subscription-key': 'sk' });
  });

  it.each(OTHERS)('goes as a bearer token at %s', async (baseUrl) => {
    const { headers } = await sentTo(baseUrl);
    expect(headers).toMatchObject({ authorization: 'Bearer sk' });
    expect(headers).not.toHaveProperty('api-key');
  });

  it('goes as a bearer token at Azure when it is a token of Entra', async () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln';
    expect((await sentTo('https://mine.openai.azure.com/openai/v1', token)).headers).toMatchObject({ authorization: `Bearer ${token}` });
  });
});

it.each([
  ['https://m.test/v1', 'https://m.test/v1/chat/completions'],
  ['https://m.test/v1/', 'https://m.test/v1/chat/completions'],
  ['https://m.test', 'https://m.test/chat/completions'],
  [
    'https://m.test/openai/deployments/m/?api-version=2024-10-21',
    'https://m.test/openai/deployments/m/chat/completions?api-version=2024-10-21',
  ],
])('the address below %s is %s', async (baseUrl, url) => {
  expect((await sentTo(baseUrl)).url).toBe(url);
});

describe('half a character', () => {
  const HALF = 'cut \ud83d';

  it('becomes the replacement character, wherever a request has it', async () => {
    const { source, sent } = modelAt('http://m.test/v1', [ANSWER]);
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { at: HALF } } as const;
    const result = { type: 'tool-result', toolCallId: 'c', toolName: 'look', output: { type: 'text', value: `\udc00${HALF}` } } as const;
    const models = new AttemptModels({ ...openGate(), signal: () => new AbortController().signal, onUsage: () => undefined });
    await generateText({
      model: models.wrap(source),
      instructions: HALF,
      tools: { look: tool({ description: HALF, inputSchema: z.object({ at: z.string().describe(HALF) }) }) },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: HALF },
            { type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: HALF },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: `\u{1F600} ${HALF}` }, call] },
        { role: 'tool', content: [result] },
        { role: 'user', content: 'next' },
      ],
    });
    const text = JSON.stringify(sent[0]?.body);
    expect(text.isWellFormed() && !/\\ud[89a-f]/i.test(text)).toBe(true);
    expect(text.split('\ufffd').length - 1).toBeGreaterThanOrEqual(8);
    expect(text).toContain('\u{1F600}');
  });
});
