import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { checkText, textOf } from '#shared/text/standard-schema.ts';
import type { InputOf, ResultOf } from '#shared/client/agent-map.ts';
import { defineAgent, defineConfig } from '#shared/config/define-config.ts';
import { observeRun } from '../../support/agents/agent-run.ts';

const triage = defineAgent({
  name: 'triage',
  description: 'Sorts reports.',
  input: z.object({ title: z.string(), votes: z.number().default(0) }),
  output: z.object({ label: z.enum(['bug', 'idea']), score: z.number() }),
  run: ({ title, votes }, { write, task }) => {
    write(`${task.id.length} `);
    return { label: title.startsWith('Fix') ? 'bug' : 'idea', score: votes, more: 'dropped' };
  },
});

const { run: context } = observeRun<'function'>({ kind: 'function' });

const runWith = async (agent: { run: typeof triage.run }, input: string): Promise<unknown> =>
  await agent.run({ ...context.task, input }, context.context);

describe('an agent made by defineAgent', () => {
  it('gets what its schema makes of the input, and its result is what its schema makes of what it returns', async () => {
    expect(await runWith(triage, '{"title":"Fix it"}')).toEqual({ result: { label: 'bug', score: 0 } });
  });

  it('fails for good with an input that does not fit, and may be tried again when what it returns does not', async () => {
    await expect(runWith(triage, '{"title":1}')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'The input does not fit its schema: input.title: Invalid input: expected string, received number',
    });
    const wrong = defineAgent({ name: 'wrong', output: z.string(), run: (text) => text.length as never });
    await expect(runWith(wrong, 'abc')).rejects.toMatchObject({
      code: 'INVALID_OUTPUT',
      message: 'What run returned does not fit its schema: output: Invalid input: expected string, received number',
    });
  });

  it('takes the text as it is without a schema', async () => {
    const plain = defineAgent({ name: 'plain', run: (text) => ({ text }) });
    expect(await runWith(plain, '{"a":1}')).toEqual({ result: { text: '{"a":1}' } });
  });

  it('has the types of its schemas for a client', () => {
    const agents = { triage, plain: defineAgent({ name: 'plain', run: () => null }), echo: { kind: 'echo' as const } };
    defineConfig({ agents });
    expectTypeOf<InputOf<typeof agents.triage>>().toEqualTypeOf<{ title: string; votes?: number | undefined }>();
    expectTypeOf<ResultOf<typeof agents.triage>>().toEqualTypeOf<{ label: 'bug' | 'idea'; score: number }>();
    expectTypeOf<InputOf<typeof agents.plain>>().toEqualTypeOf<string>();
    expectTypeOf<InputOf<typeof agents.echo>>().toEqualTypeOf<string>();
    expectTypeOf<ResultOf<typeof agents.plain>>().toEqualTypeOf<null>();
    expectTypeOf<ResultOf<typeof agents.echo>>().toEqualTypeOf<string>();
  });

  it('may answer by a promise, with literals and lists as they are written', () => {
    const output = z.object({ tags: z.array(z.object({ kind: z.enum(['a', 'b']) })), at: z.date().optional() });
    const lists = defineAgent({ name: 'a', output, run: () => ({ tags: [{ kind: 'a' }, { kind: 'b' }] }) });
    expectTypeOf<ResultOf<typeof lists>>().toEqualTypeOf<{ tags: { kind: 'a' | 'b' }[]; at?: Date | undefined }>();
    defineAgent({ name: 'a', output, run: async (text) => (text === '' ? { tags: [] } : { tags: [{ kind: 'b' }], at: new Date() }) });
    // @ts-expect-error -- there is no such kind
    defineAgent({ name: 'a', output, run: () => ({ tags: [{ kind: 'c' }] }) });
    // @ts-expect-error -- there are no tags
    defineAgent({ name: 'a', output, run: async () => ({ tag: 1 }) });
    // @ts-expect-error -- the input is no number
    defineAgent({ name: 'a', input: z.string(), run: (input: number) => input });
  });
});

describe('the text of an input', () => {
  const either = z.union([z.string(), z.number(), z.object({ a: z.number() })]);

  it.each([
    ['a text', 'hello', 'hello'],
    ['a text that could be JSON', '17', '"17"'],
    ['a text that is no value of the schema as JSON', '[1]', '[1]'],
    ['a number', 17, '17'],
    ['an object', { a: 1 }, '{"a":1}'],
  ])('reads back as the same value: %s', (_what, value, text) => {
    expect(textOf(either, value)).toEqual({ value: text });
    expect(checkText(either, text)).toEqual({ value });
  });

  it('may be JSON that a chat or a schedule sends as text', () => {
    expect(checkText(z.object({ a: z.number() }), ' {"a": 1}')).toEqual({ value: { a: 1 } });
    expect(checkText(z.object({ a: z.number() }), 'hello')).toMatchObject({ problems: [{ path: [], message: /expected object/ }] });
  });
});
