import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '#shared/config/define-config.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { acceptTasks } from '#shared/queue/accept/accept-tasks.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import type { Task } from '#shared/tasks/task.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';

const attempts: string[] = [];

const triage = defineAgent({
  name: 'triage',
  input: z.object({ title: z.string(), votes: z.number().default(0) }),
  output: z.object({ label: z.enum(['bug', 'idea']), at: z.date().optional() }),
  retryDelayMs: 10,
  run: ({ title, votes }, { task }) => {
    attempts.push(`${task.attempt} ${title} ${votes}`);
    // The first attempt answers what its schema refuses.
    if (title === 'Twice' && task.attempt === 1) return { label: 'both' as 'bug' };
    return { label: 'bug', at: new Date(0) };
  },
});
const greet = defineAgent({
  name: 'greet',
  input: z.union([z.string(), z.object({ name: z.string() })]),
  run: (name) => `Hello ${JSON.stringify(name)}`,
});
const slow = defineAgent({
  name: 'slow',
  input: z.object({ n: z.number() }),
  run: async ({ n }, { signal }) => {
    if (n === 1) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    return n;
  },
});

const parts = await useParts({ agents: { triage, greet, slow, echo: { kind: 'echo' } }, worker: { cancelGraceMs: 300 } });
await useWorker(parts);

const submit = async (request: Partial<AcceptRequest>): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'triage', input: 'none', ...request })).id;
const ended = (id: string): Promise<Task> => awaitEnd(parts, id);

describe('a task for an agent with schemas', () => {
  it('is given its JSON, and results in what run returns, as JSON', async () => {
    const task = await ended(await submit({ input: { title: 'Fix it' } }));
    expect(task.state.status).toBe('completed');
    expect(task.body.input).toBe('{"title":"Fix it"}');
    expect(task.result).toEqual({ label: 'bug', at: '1970-01-01T00:00:00.000Z' });
  });

  it('is tried again after a result that its schema refuses', async () => {
    const task = await ended(await submit({ input: { title: 'Twice', votes: 2 } }));
    expect([task.state.status, task.state.attempt, task.state.error?.code]).toEqual(['completed', 2, undefined]);
    expect(attempts.filter((each) => each.includes('Twice'))).toEqual(['1 Twice 2', '2 Twice 2']);
  });

  it('is refused where its input does not fit, with the place of each problem', async () => {
    await expect(submit({ input: { title: 7 } })).rejects.toMatchObject({
      code: 'request.invalid',
      message: 'input.title: Invalid input: expected string, received number',
      details: { problems: [{ path: 'input.title', message: 'Invalid input: expected string, received number' }] },
    });
    await expect(submit({ input: 'hello' })).rejects.toMatchObject({ code: 'request.invalid', message: /^input: .*expected object/ });
    const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown[];
    await expect(submit({ agent: 'greet', input: deep })).rejects.toMatchObject({ code: 'request.invalid', message: /levels/ });
    await expect(submit({ agent: 'echo', input: { title: 'x' } })).rejects.toMatchObject({
      code: 'request.invalid',
      message: /expected a text/,
    });
  });

  it('is refused alone among many', async () => {
    const base = { tenant: 'default', agent: 'triage' };
    const answers = await acceptTasks(parts, [
      { ...base, input: { title: 'a' } },
      { ...base, input: { title: null } },
      { ...base, input: { title: 'b' } },
    ]);
    expect(answers.map((answer) => (answer instanceof Error ? answer.message.slice(0, 11) : 'accepted'))).toEqual([
      'accepted',
      'input.title',
      'accepted',
    ]);
  });

  it('gets a text as text, and a text of JSON as text too where the schema takes both', async () => {
    const results = await Promise.all(
      ['Ada', '{"name":"Ada"}'].map(async (input) => (await ended(await submit({ agent: 'greet', input }))).result),
    );
    expect(results).toEqual(['Hello "Ada"', 'Hello "{\\"name\\":\\"Ada\\"}"']);
    const task = await ended(await submit({ agent: 'greet', input: { name: 'Ada' } }));
    // A text is what people read too.
    expect([task.result, task.output]).toEqual(['Hello {"name":"Ada"}', 'Hello {"name":"Ada"}']);
  });

  it('neither merges with others of its session nor carries on what it interrupts', async () => {
    const first = await submit({ agent: 'slow', input: { n: 1 }, session: 's' });
    const collected = await submit({ agent: 'slow', input: { n: 2 }, session: 's', mode: 'collect' });
    const last = await submit({ agent: 'slow', input: { n: 3 }, session: 's', mode: 'interrupt' });
    expect((await ended(first)).state.status).toBe('cancelled');
    expect((await ended(collected)).state.status).not.toBe('skipped');
    expect((await ended(last)).result).toBe(3);
  });
});
