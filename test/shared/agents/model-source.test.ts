import { generateText } from 'ai';
import { Response } from 'undici';
import { describe, expect, it } from 'vitest';
import type { GuardedFetch } from '#shared/agents/guarded-fetch.ts';
import { openModelSource } from '#shared/agents/model-source.ts';
import { accountOf } from '#shared/providers/account.ts';
import { TRACEPARENT } from '../../support/agents/agent-run.ts';

/** The body of a call with a bound to the endpoint at this URL. */
async function bodySentTo(baseUrl: string): Promise<Record<string, unknown>> {
  const bodies: string[] = [];
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  const fetch: GuardedFetch = (_url, init) => {
    bodies.push(init?.body as string);
    return Promise.resolve(Response.json({ id: 'x', model: 'm', choices }));
  };
  const endpoint = { baseUrl, apiKey: 'sk' };
  const account = accountOf({}, { ...endpoint, isOperators: true });
  const source = openModelSource({ ...endpoint, account, fetch, name: 'm', traceparent: TRACEPARENT, ownCostOf: () => undefined });
  await generateText({ model: source.modelFor('m'), prompt: 'hello', maxOutputTokens: 7 });
  return JSON.parse(bodies[0] ?? '') as Record<string, unknown>;
}

describe('the bound of a call', () => {
  it.each(['https://api.openai.com/v1', 'https://eu.api.openai.com/v1', 'https://mine.openai.azure.com/openai/v1'])(
    'has the name that newer models of OpenAI take at %s',
    async (baseUrl) => {
      const body = await bodySentTo(baseUrl);
      expect(body).toMatchObject({ max_completion_tokens: 7 });
      expect(body).not.toHaveProperty('max_tokens');
    },
  );

  it.each(['https://models.example/v1', 'https://api.openai.com.example/v1', 'https://notapi.openai.com.example/v1'])(
    'has the name that every endpoint takes at %s',
    async (baseUrl) => {
      const body = await bodySentTo(baseUrl);
      expect(body).toMatchObject({ max_tokens: 7 });
      expect(body).not.toHaveProperty('max_completion_tokens');
    },
  );
});
