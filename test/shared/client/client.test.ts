import { describe, expect, it } from 'vitest';
import { createClient, type TaskEvent } from '#shared/client/index.ts';
import type { Question } from '#shared/client/openapi.gen.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { useWorker } from '../../support/use-worker.ts';
import { startApi } from '../../services/api/support/start-api.ts';

const redis = await useRedis();
const api = closeAfterTests(
  await startApi(redis.url, {
    agents: {
      echo: { kind: 'echo' },
      asking: {
        kind: 'function',
        run: async ({ input }, { ask, step, waitFor }) => {
          const first = await step('first', () => `${input}, seen`);
          const event = await waitFor('client.go', { match: { input } });
          return { result: [first, event?.data, await ask({ question: 'Go on?', choices: ['yes', 'no'] })] };
        },
      },
      boss: {
        kind: 'function',
        run: async (_task, { delegateAll }) => ({
          result: await delegateAll([
            ['echo', 'for'],
            ['judge', 'against'],
          ]),
        }),
      },
      judge: { kind: 'function', run: async ({ input }) => Promise.resolve({ output: 'a text', result: { verdict: input } }) },
      draw: {
        kind: 'function',
        run: async (_task, { attach }) => {
          await attach('picture.svg', '<svg/>', 'image/svg+xml');
        },
      },
    },
  }),
);
await useWorker(api.parts);
const client = createClient({ url: api.url, key: api.key });

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a task', () => {
  it('answers its result, or its output where it has none', async () => {
    const [judge, echo] = await Promise.all([client.send('judge', 'guilty'), client.send('echo', 'hello there')]);
    expect(await judge.result()).toEqual({ verdict: 'guilty' });
    expect(await echo.result()).toBe('hello there');
    expect(echo.accepted).toMatchObject({ id: echo.id, position: 0 });
    expect(await client.task(echo.id).result()).toBe('hello there');
  });

  it('is followed from its beginning to its end, also once it has ended', async () => {
    const task = await client.send('echo', 'one two three');
    const events = await collect(task);
    expect(events.at(-1)).toEqual({ type: 'end', status: 'completed' });
    expect(events.at(-2)).toEqual({ type: 'status', status: 'completed' });
    expect(textOf(events)).toBe('one two three');
    expect(textOf(await collect(task))).toBe('one two three');
  });

  it('rejects with the code and the record of its failure', async () => {
    const context = { failAttempts: 1, failCode: 'INVALID_INPUT' };
    const task = await client.send('echo', 'hello', { context });
    await expect(task.result()).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      status: null,
      task: { id: task.id, status: 'permanently_failed' },
    });
  });

  it('rejects as cancelled once it is, and cannot be cancelled after another end', async () => {
    const task = await client.send('echo', 'hello', { scheduledFor: '2099-01-01T00:00:00Z' });
    const result = task.result();
    expect(await task.why()).toMatchObject({ reasons: [{ gate: 'time' }] });
    expect(await task.cancel({ reason: 'no longer needed' })).toMatchObject({ status: 'cancelled' });
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED', message: 'no longer needed', task: { id: task.id } });
    const ended = await client.send('echo', 'hello');
    await ended.result();
    await expect(ended.cancel()).rejects.toMatchObject({ code: 'task.wrong-state', status: 409 });
  });

  it('is no longer waited for once the signal aborts, and goes on', async () => {
    const task = await client.send('echo', 'hello', { scheduledFor: '2099-01-01T00:00:00Z' });
    const reason = new Error('enough');
    const control = new AbortController();
    const waits = Promise.allSettled([task.result({ signal: control.signal }), collect(task.events({ signal: control.signal }))]);
    await waitForStream(task.events());
    control.abort(reason);
    expect(await waits).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    expect((await task.read()).status).toBe('pending');
    await task.cancel();
  });

  it('that nobody knows is not found', async () => {
    await expect(client.task('01KQS1C8ZV0G3P5T7W9X1Y2Z3A').result()).rejects.toMatchObject({ code: 'task.not-found', status: 404 });
  });

  it('is made once when the answer to it is lost', async () => {
    let calls = 0;
    const losing: typeof fetch = async (...call) => {
      const answer = await fetch(...call);
      calls += 1;
      if (calls <= 2) throw new TypeError('the connection was cut after the fleet had answered');
      return answer;
    };
    const task = await createClient({ url: api.url, key: api.key, fetch: losing }).send('echo', 'once', { correlationId: 'lost-answers' });
    expect(calls).toBe(3);
    expect((await collect(client.tasks({ correlation: 'lost-answers' }))).map(({ id }) => id)).toEqual([task.id]);
  });
});

describe('a run that waits', () => {
  it('goes on with an event and an answer, has a journal, and is retried from an entry of it', async () => {
    const task = await client.send('asking', 'order 7');
    await expect.poll(async () => (await task.read()).status, { timeout: 10_000 }).toBe('suspended');
    expect(await client.events.send({ name: 'client.go', data: { input: 'order 7' }, id: 'client-go' })).toEqual({ resumed: 1 });
    const open = (): Promise<Question[]> => collect(client.questions.list({ status: 'open', taskId: task.id }));
    await expect.poll(async () => (await open()).length, { timeout: 10_000 }).toBe(1);
    const id = (await open())[0]?.id ?? '';
    expect(await client.questions.answer(id, 'no')).toMatchObject({ status: 'answered', answer: 'no' });
    await expect(client.questions.answer(id, 'yes')).rejects.toMatchObject({ code: 'question.answered', status: 409 });
    expect(await client.questions.get(id)).toMatchObject({ answer: 'no', taskId: task.id });
    expect(await task.result()).toEqual(['order 7, seen', { input: 'order 7' }, 'no']);
    const journal = await collect(task.journal());
    expect(journal.map(({ seq, kind, name }) => [seq, kind, name])).toEqual([
      [1, 'definition', 'asking'],
      [2, 'step', 'first'],
      [3, 'event', 'client.go'],
      [4, 'question', 'Go on?'],
    ]);

    const again = await task.retry({ fromStep: 4 });
    expect(again.id).not.toBe(task.id);
    await expect.poll(async () => (await collect(client.questions.list({ taskId: again.id }))).length, { timeout: 10_000 }).toBe(1);
    await client.questions.answer((await collect(client.questions.list({ taskId: again.id })))[0]?.id ?? '', 'yes');
    expect(await again.result()).toEqual(['order 7, seen', { input: 'order 7' }, 'yes']);
    await expect(task.retry()).rejects.toMatchObject({ code: 'task.wrong-state', status: 409 });
  });

  it('is the root of a tree with its sub-tasks, oldest first, with how their inputs begin', async () => {
    const input = `${'ä"\\'.repeat(100)} 🚂`;
    const task = await client.send('boss', input);
    await task.result();
    const tree = await task.tree();
    expect(tree).toMatchObject({ id: task.id, agent: 'boss', status: 'completed', costMicroUsd: null, isEstimated: false, hasMore: false });
    expect(input.startsWith(tree.input)).toBe(true);
    expect(tree.input.length).toBeGreaterThan(60);
    expect(tree.children.map(({ agent, status, input: given }) => [agent, status, given])).toEqual([
      ['echo', 'completed', 'for'],
      ['judge', 'completed', 'against'],
    ]);
    expect(Date.parse(tree.completedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(tree.children[0]?.completedAt ?? ''));
    const cut = await task.tree({ limit: 2 });
    expect([cut.children.length, cut.hasMore]).toEqual([1, true]);
  });
});

describe('many tasks', () => {
  it('are sent in their order, each with its own answer', async () => {
    const [first, unknown, last] = await client.sendMany([
      { agent: 'echo', input: 'first', correlationId: 'many' },
      { agent: 'nobody', input: 'second' },
      { agent: 'judge', input: 'last', correlationId: 'many' },
    ]);
    expect(unknown).toMatchObject({ task: null, error: { code: 'agent.unknown', status: 422 } });
    expect(await Promise.all([first.task?.result(), last.task?.result()])).toEqual(['first', { verdict: 'last' }]);
  });

  it('are all waited for, more than streams are opened', async () => {
    const sent = await client.sendMany(Array.from({ length: 12 }, (_, n) => ({ agent: 'echo', input: `number ${n}` })));
    expect(await Promise.all(sent.map(async ({ task }) => await task?.result()))).toEqual(sent.map((_, n) => `number ${n}`));
  });

  it('are listed page by page', async () => {
    await client.sendMany(Array.from({ length: 5 }, (_, n) => ({ agent: 'echo', input: `${n}`, correlationId: 'pages' })));
    const inputs = (await collect(client.tasks({ correlation: 'pages', limit: 2 }))).map(({ input }) => input);
    expect(inputs).toEqual(['4', '3', '2', '1', '0']);
  });
});

describe('files', () => {
  it('go to a task, and come back from one', async () => {
    const upload = await client.upload(new Blob(['a,b'], { type: 'text/csv' }), { name: 'data.csv' });
    expect(upload).toMatchObject({ name: 'data.csv', mediaType: 'text/csv', bytes: 3 });
    const task = await client.send('draw', 'a picture', { attachments: [{ uploadId: upload.id }] });
    await task.result();
    expect((await task.read()).attachments).toMatchObject([{ name: 'data.csv' }]);
    expect(await collect(task.artifacts())).toMatchObject([{ name: 'picture.svg', mediaType: 'image/svg+xml' }]);
    expect(await (await task.download('picture.svg')).text()).toBe('<svg/>');
  });
});

describe('schedules', () => {
  it('are made, changed, run and removed', async () => {
    const schedule = await client.schedules.create({ every: '5m', agent: 'echo', message: 'tick' });
    expect((await collect(client.schedules.list({ agent: 'echo' }))).map(({ id }) => id)).toContain(schedule.id);
    expect(await client.schedules.change(schedule.id, { status: 'paused' })).toMatchObject({ status: 'paused' });
    expect(await client.schedules.get(schedule.id)).toMatchObject({ rule: 'every 5m', status: 'paused' });
    const run = await client.schedules.run(schedule.id);
    expect(await run.result()).toBe('tick');
    expect(await collect(client.schedules.runs(schedule.id))).toMatchObject([{ id: run.id, trigger: 'run-now' }]);
    await client.schedules.remove(schedule.id);
    await expect(client.schedules.get(schedule.id)).rejects.toMatchObject({ code: 'schedule.not-found' });
    expect(await client.schedules.preview({ cron: '0 9 * * *', tz: 'UTC' })).toMatchObject({ kind: 'cron', next: [{}, {}, {}] });
  });
});

describe('sessions', () => {
  it('take messages and commands, and are read', async () => {
    const { task } = await client.sessions.send('team', 'hello', { agent: 'echo' });
    expect(await task?.result()).toBe('hello');
    expect(await client.sessions.send('team', '/queue status')).toMatchObject({ task: null, command: { command: 'queue' } });
    expect(await collect(client.sessions.transcript('team'))).toMatchObject([{ input: 'hello', output: 'hello' }]);
    expect(await client.sessions.setMode('team', 'collect')).toMatchObject({ id: 'team', mode: 'collect' });
    expect(await client.sessions.get('team')).toMatchObject({ holder: null, waiting: [] });
    expect((await collect(client.sessions.list())).map(({ id }) => id)).toEqual(['team']);
    expect(await client.sessions.stop('team')).toEqual({ withdrawn: 0, stopped: 0 });
    const upload = await client.sessions.upload('team', new Blob(['x']));
    expect(upload).toMatchObject({ name: 'file', mediaType: 'application/octet-stream' });
  });
});

function textOf(events: readonly TaskEvent[]): string {
  return events.flatMap((event) => (event.type === 'output' ? [event.text] : [])).join('');
}

/** Resolves once a stream has begun. */
async function waitForStream(events: AsyncIterable<TaskEvent>): Promise<void> {
  for await (const _ of events) return;
}
