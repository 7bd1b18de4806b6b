import { APICallError, generateText, streamText } from 'ai';
import { describe, expect, it } from 'vitest';
import type { ParameterChanges } from '#shared/providers/learned-parameters.ts';
import { type EndpointAnswer, events, modelAt, piece, type SentRequest } from '../../../support/agents/model-endpoint.ts';

const GATEWAY = 'https://llm.company.test/v1';
const OPENAI = 'https://api.openai.com/v1';
const ANSWER: EndpointAnswer = { body: events(piece('Hi', { finish_reason: 'stop' }), '[DONE]') };
const refusal = (body: object | string, status = 400): EndpointAnswer => ({
  status,
  type: typeof body === 'string' ? 'text/plain' : 'application/json',
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const error = (message: string, rest: object = {}): EndpointAnswer =>
  refusal({ error: { message, type: 'invalid_request_error', ...rest } });

const SENT = ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'presence_penalty', 'stream_options'] as const;

/** The parameters of each request of one call. */
async function call(
  answers: readonly EndpointAnswer[],
  { url = GATEWAY, ...options }: { url?: string } & Parameters<typeof modelAt>[2] = {},
): Promise<{ sent: SentRequest[]; parameters: object[]; text: string }> {
  const { source, sent } = modelAt(url, answers, options);
  const settings = { maxOutputTokens: 20_000, temperature: 0.5, topP: 0.9, presencePenalty: 1 };
  const text = await streamText({ model: source.modelFor('m'), prompt: 'hello', maxRetries: 0, onError: () => undefined, ...settings })
    .text;
  const parameters = sent.map(({ body }) => Object.fromEntries(SENT.flatMap((name) => (name in body ? [[name, body[name]]] : []))));
  return { sent, parameters, text };
}

const ALL = { max_tokens: 20_000, temperature: 0.5, top_p: 0.9, presence_penalty: 1, stream_options: { include_usage: true } };
const { max_tokens: bound, ...UNBOUND } = ALL;
const without = (name: keyof typeof ALL): object => Object.fromEntries(Object.entries(ALL).filter(([each]) => each !== name));
const renamed = { ...UNBOUND, max_completion_tokens: bound };

describe('a parameter that a server refuses', () => {
  it.each<[string, EndpointAnswer, object]>([
    [
      'OpenAI and Azure',
      error("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
        param: 'max_tokens',
        code: 'unsupported_parameter',
      }),
      renamed,
    ],
    [
      'a proxy that drops the names',
      error("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
        code: 'invalid_request_body',
      }),
      renamed,
    ],
    [
      'a validator of Python',
      refusal({ detail: [{ type: 'extra_forbidden', loc: ['body', 'max_tokens'], msg: 'Extra inputs are not permitted', input: 5 }] }, 422),
      renamed,
    ],
    [
      'OpenAI, of a value',
      error("Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.", {
        param: 'temperature',
        code: 'unsupported_value',
      }),
      without('temperature'),
    ],
    ['Moonshot, of a value', error('invalid temperature: only 1 is allowed for this model'), without('temperature')],
    [
      'Anthropic, of one of two',
      error('`temperature` and `top_p` cannot both be specified for this model. Please use only one.'),
      without('top_p'),
    ],
    ['Anthropic', error('`temperature` is deprecated for this model.'), without('temperature')],
    [
      'LiteLLM',
      error("litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.5. Only temperature=1 is supported."),
      without('temperature'),
    ],
    ['xAI', error('Argument not supported on this model: presencePenalty'), without('presence_penalty')],
    ['Groq', error("property 'presence_penalty' is unsupported"), without('presence_penalty')],
    ['Azure, older', error('Unrecognized request argument supplied: stream_options'), without('stream_options')],
    [
      'Mistral',
      refusal(
        {
          object: 'error',
          message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
        },
        422,
      ),
      without('stream_options'),
    ],
    [
      'vLLM',
      refusal({
        object: 'error',
        message: "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
        code: 400,
      }),
      without('stream_options'),
    ],
    [
      'Google',
      refusal([
        {
          error: {
            code: 400,
            message: 'Invalid JSON payload received. Unknown name "stream_options": Cannot find field.',
            status: 'INVALID_ARGUMENT',
          },
        },
      ]),
      without('stream_options'),
    ],
    [
      'NVIDIA',
      refusal(
        {
          title: 'Unprocessable Entity',
          status: 422,
          detail: 'body -> presence_penalty\n  Extra inputs are not permitted (type=extra_forbidden)',
        },
        422,
      ),
      without('presence_penalty'),
    ],
    [
      'Bedrock',
      refusal({ message: 'Malformed input request: #: extraneous key [top_p] is not permitted, please reformat your input.' }),
      without('top_p'),
    ],
    ['a text', refusal('unknown field stream_options'), without('stream_options')],
    [
      'OpenAI, of a part',
      error('Unknown parameter', { param: 'stream_options.include_usage', code: 'unknown_parameter' }),
      without('stream_options'),
    ],
    [
      'OpenAI, of the size',
      error('max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.'),
      { ...ALL, max_tokens: 16_384 },
    ],
    [
      'Anthropic, of the size',
      error('max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for this model'),
      { ...ALL, max_tokens: 8192 },
    ],
    [
      'a program in Rust, with the names that it knows',
      refusal('unknown field `presence_penalty`, expected one of `messages`, `model`, `temperature`, `top_p`, `max_tokens`', 422),
      without('presence_penalty'),
    ],
    [
      'a validator of JavaScript',
      refusal({ error: { name: 'ZodError', issues: [{ code: 'unrecognized_keys', message: "Unrecognized key(s) in object: 'top_p'" }] } }),
      without('top_p'),
    ],
    ['a gateway, in short words', error("max_tokens isn't supported"), renamed],
    ['a gateway, with advice', error("This model requires 'max_completion_tokens' instead of 'max_tokens'."), renamed],
    ['Anthropic, of thinking', error('`temperature` may only be set to 1 when thinking is enabled.'), without('temperature')],
    ['OpenAI, of several values', error('This model has beta-limitations, presence_penalty is fixed at 0.'), without('presence_penalty')],
    [
      'a body of 200',
      {
        type: 'application/json',
        body: JSON.stringify({ error: { message: 'Unsupported parameter', param: 'top_p', code: 'unsupported_parameter' } }),
      },
      without('top_p'),
    ],
    ['Groq, of the size', error('`max_tokens` must be less than or equal to `16,384`'), { ...ALL, max_tokens: 16_384 }],
    [
      'Google, of the size',
      refusal([
        {
          error: {
            code: 400,
            message: 'It has a maxOutputTokens value of 20000 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
          },
        },
      ]),
      { ...ALL, max_tokens: 8192 },
    ],
    [
      'Bedrock, of the size',
      refusal({
        message: 'The maximum tokens you requested exceeds the model limit of 10000. Try again with a value that is lower than 10000.',
      }),
      { ...ALL, max_tokens: 10_000 },
    ],
    ['DeepSeek, of the size', error('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'), { ...ALL, max_tokens: 8192 }],
  ])('is sent otherwise after a refusal of %s', async (_provider, refused, second) => {
    const { parameters, text } = await call([refused, ANSWER]);
    expect(parameters).toEqual([ALL, second]);
    expect(text).toBe('Hi');
  });

  it('gets the old name where OpenAI is called and a gateway answers', async () => {
    const { parameters } = await call([error('Unrecognized request argument supplied: max_completion_tokens'), ANSWER], { url: OPENAI });
    expect(parameters).toEqual([renamed, ALL]);
  });

  it('is left out where both of its names are refused', async () => {
    const { parameters } = await call([error('unknown field max_tokens'), error('unknown field max_completion_tokens'), ANSWER]);
    expect(parameters.at(-1)).toEqual(UNBOUND);
  });

  it('may be one of several, which are found one after the other', async () => {
    const all = [
      error('unknown field stream_options'),
      error('unknown field top_p'),
      error('invalid temperature'),
      error('unknown field max_tokens'),
      ANSWER,
    ];
    const { parameters, text } = await call(all);
    expect([parameters.at(-1), text]).toEqual([{ max_completion_tokens: bound, presence_penalty: 1 }, 'Hi']);
  });

  it.each<[string, EndpointAnswer]>([
    ['another', error('messages: at least one message is required', { param: 'messages' })],
    [
      'a prompt that is too long',
      error("'max_tokens' is too large: 20000. This model's maximum context length is 8192 tokens and your request has 1000 input tokens"),
    ],
    ['a message that speaks of one', error("Invalid value for 'messages[0].content': temperature", { param: 'messages[0].content' })],
    ['something that was not sent', error('Unrecognized request argument supplied: logit_bias')],
    ['a parameter, by a status of another kind', { ...error('unknown field top_p'), status: 403 }],
    ['nothing', refusal('')],
  ])('is none in a refusal of %s', async (_what, refused) => {
    const { source, sent } = modelAt(GATEWAY, [refused, ANSWER]);
    const settings = { maxOutputTokens: 20_000, topP: 0.9, maxRetries: 0 };
    await expect(generateText({ model: source.modelFor('m'), prompt: 'x', ...settings })).rejects.toBeInstanceOf(APICallError);
    expect(sent).toHaveLength(1);
  });

  it('is asked for a bounded number of times', async () => {
    const { source, sent } = modelAt(GATEWAY, [
      error('max_tokens must be at most 2'),
      error('unknown field max_tokens'),
      error('unknown field top_p'),
    ]);
    await expect(
      generateText({ model: source.modelFor('m'), prompt: 'x', topP: 0.1, maxOutputTokens: 9, maxRetries: 0 }),
    ).rejects.toBeInstanceOf(APICallError);
    expect(sent.length).toBeLessThan(9);
  });
});

describe('what a server refused', () => {
  it('is remembered once a call was answered, for its model', async () => {
    const known = new Map<string, ParameterChanges>();
    const parameters = {
      read: ({ model }: { model: string }) => Promise.resolve(known.get(model) ?? {}),
      learn: ({ model }: { model: string }, changes: ParameterChanges) => Promise.resolve(void known.set(model, changes)),
    };
    await call([error('unknown field max_tokens'), error('no, for another reason')], { parameters }).catch(() => undefined);
    expect(known.size).toBe(0);
    await call([error('unknown field max_tokens'), ANSWER], { parameters });
    expect(known.get('m')).toEqual({ max_tokens: { as: 'max_completion_tokens' } });
    expect((await call([ANSWER], { parameters })).parameters).toEqual([renamed]);
  });
});

it("an agent's own parameters go before what a server says", async () => {
  const ownParameters = { max_tokens: 'max_output_tokens', temperature: null };
  for (const url of [GATEWAY, OPENAI]) {
    const { sent } = await call([ANSWER], { url, ownParameters });
    expect(sent[0]?.body).toMatchObject({ max_output_tokens: bound, top_p: 0.9 });
    expect(sent[0]?.body).not.toHaveProperty('temperature');
    expect(sent[0]?.body).not.toHaveProperty('max_completion_tokens');
  }
});
