import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startFakeModel } from '../../../support/agents/fake-model.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { useApi } from '../support/use-api.ts';

const fake = closeAfterTests(await startFakeModel());
const own = { kind: 'openai', model: 'small', baseUrl: fake.baseUrl, apiKey: 'k' } as const;
const look = { description: 'Looks.', input: z.object({}), run: () => 'Bonn' };
const api = await useApi({
  agents: {
    echo: { kind: 'echo' },
    assistant: own,
    looking: { ...own, tools: ['look'] },
    brief: { ...own, retries: { INVALID_OUTPUT: 'stop' } },
    real: { kind: 'echo' },
  },
  tools: { look },
  openai: { models: { 'gpt-5': 'assistant', real: 'assistant', gone: 'nobody' } },
});
await useWorker(api.parts);
const client = new OpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: api.key, maxRetries: 0 });
afterEach(() => fake.mock.reset());

const schema = {
  type: 'object',
  properties: { town: { type: 'string', pattern: '^(a+)+$' }, pattern: { type: 'integer' } },
  required: ['town', 'pattern'],
  additionalProperties: false,
};
const format = { type: 'json_schema', name: 'place', description: 'A place.', schema, strict: true } as const;
const answers = (content: string): unknown => fake.mock.on({ predicate: () => true }, () => ({ content }));
const asked = (): { response_format?: unknown } => (fake.mock.getLastRequest() as { body: object } | undefined)?.body ?? {};
const PLACE = '{"town":"Bonn","pattern":1}';

describe('an answer in a format', () => {
  it('is asked of the provider by the schema of the request, and repeated by the response', async () => {
    answers(PLACE);
    const response = await client.responses.create({ model: 'assistant', input: 'Where?', text: { format } });
    expect(response).toMatchObject({ status: 'completed', output_text: PLACE, text: { format } });
    const { type: _type, ...described } = format;
    expect(asked().response_format).toEqual({ type: 'json_schema', json_schema: described });
    const chat = await client.chat.completions.create({
      model: 'assistant',
      messages: [{ role: 'user', content: 'Where?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
    });
    expect(chat.choices[0]?.message.content).toBe(PLACE);
    expect(asked().response_format).toMatchObject({ json_schema: { name: 'place', strict: false } });
    await client.responses.create({ model: 'assistant', input: 'Where?', text: { format: { type: 'json_object' } } });
    expect(asked().response_format).toEqual({ type: 'json_object' });
  });

  it.each([
    ['no JSON', 'In Bonn.', 'no JSON'],
    ['another JSON', '{"town":"Bonn"}', 'pattern'],
  ])('that is %s fails, after all attempts', async (_what, content, why) => {
    answers(content);
    const response = await client.responses.create({ model: 'brief', input: 'Where?', text: { format } });
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_OUTPUT', message: expect.stringContaining(why) as string },
    });
  });

  it('has nothing of what the model said beside calls of tools', async () => {
    fake.mock.on({ predicate: () => true }, ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { content: PLACE }
        : { content: 'I look.', toolCalls: [{ name: 'look', id: 'call-1', arguments: '{}' }] },
    );
    const response = await client.responses.create({ model: 'looking', input: 'Where?', text: { format } });
    expect(response.output_text).toBe(PLACE);
  });

  it('is refused for an agent that is no model, and where it is none', async () => {
    const refused = [
      client.responses.create({ model: 'echo', input: 'x', text: { format } }),
      client.chat.completions.create({
        model: 'echo',
        messages: [{ role: 'user', content: 'x' }],
        response_format: { type: 'json_object' },
      }),
      client.responses.create({ model: 'assistant', input: 'x', text: { format: { type: 'grammar' } as never } }),
      client.responses.create({ model: 'assistant', input: 'x', text: { format: { ...format, name: 'a b' } } }),
    ];
    const errors = await Promise.all(refused.map((each) => each.catch((error: unknown) => error)));
    expect(errors).toMatchObject(
      ['text.format', 'response_format', 'text.format', 'text.format'].map((param) => ({ status: 400, code: 'invalid_request', param })),
    );
  });
});

describe('the name of a model', () => {
  it('may stand for an agent, where no agent has it', async () => {
    answers('hi');
    expect((await client.responses.create({ model: 'gpt-5', input: 'x' })).output_text).toBe('hi');
    expect((await client.responses.create({ model: 'real', input: 'its own' })).output_text).toBe('its own');
    await expect(client.responses.create({ model: 'gone', input: 'x' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    await expect(client.responses.create({ model: 'constructor', input: 'x' })).rejects.toMatchObject({ status: 404 });
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['gpt-5', 'assistant', 'real']));
    expect(data.map(({ id }) => id)).not.toContain('gone');
    expect((await client.models.retrieve('gpt-5')).id).toBe('gpt-5');
  });
});
