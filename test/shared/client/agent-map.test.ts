import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '#shared/config/define-config.ts';
import { createClient, type InputOf, type ManyResult, type ResultOf, type SentTask } from '#shared/client/index.ts';

const agents = {
  invoice: defineAgent({
    name: 'invoice',
    input: z.object({ number: z.string(), lines: z.array(z.string()).optional() }),
    output: z.object({ total: z.number() }),
    run: ({ number }) => ({ total: number.length }),
  }),
  echo: { kind: 'echo' },
  script: { kind: 'command', command: ['true'] },
} as const;

const options = { url: 'http://127.0.0.1:1', key: 'none', retryForMs: 0 };
const client = createClient<typeof agents>(options);
const untyped = createClient(options);

/** Compiled, and never run. */
export async function typedUse(): Promise<void> {
  const task = await client.send('invoice', { number: 'A-1' });
  expectTypeOf(await task.result()).toEqualTypeOf<{ total: number }>();
  expectTypeOf(await (await client.send('echo', 'text')).result()).toEqualTypeOf<string>();
  expectTypeOf(client.task<'invoice'>('id')).toEqualTypeOf<SentTask<{ total: number }>>();
  const many = await client.sendMany([
    { agent: 'invoice', input: { number: 'A-1' }, priority: 'high' },
    { agent: 'echo', input: 'text' },
  ]);
  expectTypeOf(many).toEqualTypeOf<[ManyResult<{ total: number }>, ManyResult<string>]>();
  // @ts-expect-error -- no agent has this name
  await client.send('invoices', { number: 'A-1' });
  // @ts-expect-error -- the input has no number
  await client.send('invoice', {});
  // @ts-expect-error -- the number is a text
  await client.send('invoice', { number: 1 });
  // @ts-expect-error -- an agent without a schema takes text
  await client.send('script', { number: 'A-1' });
  // @ts-expect-error -- no task has this option
  await client.send('echo', 'text', { priorty: 5 });
  // @ts-expect-error -- no priority has this name
  await client.send('echo', 'text', { priority: 'urgent' });
  // @ts-expect-error -- the input is of another agent
  await client.sendMany([{ agent: 'echo', input: { number: 'A-1' } }]);
  // @ts-expect-error -- the result is an amount, not a text
  (await task.result()).total.trim();
  // @ts-expect-error -- a schedule needs an agent
  await client.schedules.create({ every: '5m', message: 'hello' });
  for await (const event of task) {
    if (event.type === 'output') expectTypeOf(event).toEqualTypeOf<{ type: 'output'; attempt: number; seq: number; text: string }>();
    // @ts-expect-error -- an end has no text
    if (event.type === 'end') event.text.trim();
  }
}

describe('the types of agents', () => {
  it('of one that `defineAgent` made are those of its schemas', () => {
    expectTypeOf<InputOf<typeof agents.invoice>>().toEqualTypeOf<{ number: string; lines?: string[] | undefined }>();
    expectTypeOf<ResultOf<typeof agents.invoice>>().toEqualTypeOf<{ total: number }>();
  });

  it('of one without schemas are text in, and text out where it has only that', () => {
    expectTypeOf<InputOf<typeof agents.script>>().toEqualTypeOf<string>();
    expectTypeOf<ResultOf<typeof agents.script>>().toEqualTypeOf<unknown>();
    expectTypeOf<ResultOf<typeof agents.echo>>().toEqualTypeOf<string>();
  });

  it('of a client that knows no agents are open', () => {
    expectTypeOf<Parameters<(typeof untyped)['send']>[0]>().toEqualTypeOf<string>();
    expectTypeOf<Parameters<(typeof untyped)['send']>[1]>().toEqualTypeOf<unknown>();
  });
});
