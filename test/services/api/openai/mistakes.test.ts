import OpenAI, { BadRequestError, toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { startApi } from '../support/start-api.ts';
import { useApi } from '../support/use-api.ts';

const agents = {
  echo: { kind: 'echo' },
  assistant: { kind: 'openai', model: 'small', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k' },
  // No worker of this test runs it.
  idle: { kind: 'daemon' },
} as const;
const api = await useApi({ agents });
const open = closeAfterTests(await startApi((await useRedis()).url, { agents, outbound: { allowNetworks: ['127.0.0.0/8'] } }));
const drive = driveTasks(api.parts);
const client = new OpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: api.key, maxRetries: 0 });

const user = (content: unknown): object => ({ role: 'user', content });
const call = (id: string): object => ({ id, type: 'function', function: { name: 'weather', arguments: '{}' } });
const assistant = (...ids: string[]): object => ({ role: 'assistant', content: null, tool_calls: ids.map(call) });
const tool = (id: string): object => ({ role: 'tool', tool_call_id: id, content: 'sunny' });

async function refused(path: string, body: object, at = api): Promise<{ status: number; error: Record<string, unknown> }> {
  const { status, body: answer } = await at.call('POST', `/openai/v1/${path}`, { body });
  return { status, error: answer.error };
}
const chat = (fields: object): Promise<{ status: number; error: Record<string, unknown> }> =>
  refused('chat/completions', { model: 'assistant', messages: [user('x')], ...fields });
const response = (fields: object): Promise<{ status: number; error: Record<string, unknown> }> =>
  refused('responses', { model: 'assistant', input: 'x', background: true, ...fields });
const invalid = (param: string, message: unknown = expect.any(String)): object => ({
  status: 400,
  error: { type: 'invalid_request_error', param, message },
});
const WITHOUT_CALL = expect.stringContaining("messages with role 'tool' must be a response to a preceding message with 'tool_calls'");
const WITHOUT_OUTPUT = expect.stringContaining('The following tool_call_ids did not have response messages: b');

describe('calls of functions in a chat', () => {
  it.each([
    ['an output without a call', [user('x'), tool('a')], 'messages[1].role', WITHOUT_CALL],
    ['an output of another call', [user('x'), assistant('b'), tool('b'), tool('a')], 'messages[3].role', WITHOUT_CALL],
    ['an output behind another message', [user('x'), assistant('b'), tool('b'), user('y'), tool('b')], 'messages[4].role', WITHOUT_CALL],
    ['a call without an output', [user('x'), assistant('a', 'b'), tool('a'), user('y')], 'messages[1].role', WITHOUT_OUTPUT],
    ['a call at the end', [user('x'), assistant('b')], 'messages[1].role', WITHOUT_OUTPUT],
  ])('are refused with %s', async (_what, messages, param, message) => {
    expect(await chat({ messages })).toMatchObject(invalid(param, message));
  });

  it('are refused in an input of a response too, unless what came before may have the other half', async () => {
    const output = { type: 'function_call_output', call_id: 'a', output: 'sunny' };
    const called = { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{}' };
    expect(await response({ input: [user('x'), output] })).toMatchObject(invalid('input', expect.stringContaining('No tool call found')));
    expect(await response({ input: [user('x'), called] })).toMatchObject(invalid('input', expect.stringContaining('No tool output found')));
    expect((await response({ input: [user('x'), called, output] })).status).toBe(200);
    const { id: conversation } = await client.conversations.create();
    expect((await response({ input: [user('x'), output], conversation })).status).toBe(200);
  });
});

describe('the address of a file', () => {
  it.each([
    'http://127.0.0.1:4801/secret',
    'http://localhost/x',
    'http://[::1]/x',
    'http://169.254.169.254/',
    'ftp://files.test/x',
    'nonsense',
  ])('that cannot be called is refused at once: %s', async (url) => {
    const parts = [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url } },
    ];
    expect(await chat({ messages: [user(parts)] })).toMatchObject(invalid('messages[0].content[1].image_url.url'));
    expect(await response({ input: [user([{ type: 'input_image', image_url: url }])] })).toMatchObject(
      invalid('input[0].content[0].image_url'),
    );
  });

  it('is taken where its network is allowed', async () => {
    const input = [user([{ type: 'input_image', image_url: 'http://127.0.0.1:4801/x' }])];
    expect((await refused('responses', { model: 'idle', background: true, input }, open)).status).toBe(200);
  });
});

async function idleTask(input: string): Promise<string> {
  const find = async (): Promise<{ id: string; input: string } | undefined> =>
    (await api.call('GET', '/v1/tasks?agent=idle')).body.items.find((each: { input: string }) => each.input.startsWith(input));
  return (await waitFor(find, { deadlineMs: 5000, what: 'the task' })).id;
}

describe('a task that fails', () => {
  it("for the address of a file is its caller's mistake", async () => {
    const failed = client.chat.completions.create({
      model: 'idle',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'https://inside.test/x' } },
          ],
        },
      ],
    });
    const thrown = failed.catch((error: unknown) => error);
    await drive.fail(await idleTask('look'), null, 'PERMISSION_DENIED');
    const error = await thrown;
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code: 'PERMISSION_DENIED' });
  });
});

describe('what is refused', () => {
  it('names a purpose that OpenAI does not have', async () => {
    const file = await toFile(Buffer.from('x'), 'x.txt');
    await expect(client.files.create({ file, purpose: 'nope' as 'batch' })).rejects.toMatchObject({
      status: 400,
      param: 'purpose',
      message: expect.stringContaining('user_data'),
    });
  });

  it.each([
    [{ type: 'nonsense' }, 'type: "nonsense" is no type'],
    [{ type: 'object', properties: { a: { type: ['string', 'text'] } } }, 'properties.a.type: "text" is no type'],
    [{ type: 'array', items: 1 }, 'items: expected a schema'],
    [{ anyOf: [{ required: 'a' }] }, 'anyOf[0].required: expected names'],
    [{ $defs: { a: { enum: 1 } } }, '$defs.a.enum: expected a list'],
  ])('names what is no JSON Schema: %j', async (schema, why) => {
    expect(await chat({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })).toMatchObject(
      invalid('response_format.json_schema.schema', expect.stringContaining(why)),
    );
    expect(await response({ text: { format: { type: 'json_schema', name: 'x', schema } } })).toMatchObject(
      invalid('text.format.schema', expect.stringContaining(why)),
    );
  });

  it("says of tools of OpenAI's own that only functions are served, and nothing else", async () => {
    for (const answer of [await chat({ tools: [{ type: 'web_search' }] }), await response({ tools: [{ type: 'web_search' }] })]) {
      expect(answer).toMatchObject(invalid('tools[0].type', expect.stringContaining('only functions')));
      expect(answer.error['message']).not.toContain('name');
    }
  });

  it('is not found in the words of OpenAI', async () => {
    await expect(client.responses.retrieve('resp_x')).rejects.toMatchObject({
      status: 404,
      code: 'not_found',
      message: expect.stringContaining("Response with id 'resp_x' not found."),
    });
    await expect(client.conversations.retrieve('conv_x')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
});
