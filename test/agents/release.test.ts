import { expect, it } from 'vitest';
import { createClient } from '#shared/client/index.ts';
import type { Question } from '#shared/client/openapi.gen.ts';
import { runAgent } from 'muster/testing';
import { run } from '../../agents/release.ts';
import { startApi } from '../services/api/support/start-api.ts';
import { closeAfterTests } from '../support/close-after-tests.ts';
import { useRedis } from '../support/redis/use-redis.ts';
import { useWorker } from '../support/use-worker.ts';

const released = 'tagged v1.4.0\npublished 1.4.0\nannounced 1.4.0\n';

it('the example that releases does its steps once it is approved, and none otherwise', async () => {
  const approved = await runAgent(run, { input: 'v1.4.0', answers: ['approve'] });
  expect(approved).toMatchObject({ output: released, result: { version: '1.4.0', isReleased: true } });
  for (const answers of [['reject'], []])
    expect(await runAgent(run, { input: '1.4.0', answers })).toMatchObject({
      output: '1.4.0 was not released.',
      result: { isReleased: false },
    });
  await expect(runAgent(run, { input: 'the newest', answers: ['approve'] })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url, { agents: { release: { kind: 'function', file: './agents/release.ts' } } }));
await useWorker(api.parts);

it('the example that releases is approved by another than its sender, and then goes on', async () => {
  const sender = createClient({ url: api.url, key: api.key });
  const other = createClient({ url: api.url, key: await api.keyOf('default', ['operate']) });
  const task = await sender.send('release', '1.4.0');
  const questions = async (): Promise<Question[]> => await collect(other.questions.list({ status: 'open', taskId: task.id }));
  await expect.poll(questions, { timeout: 10_000 }).toMatchObject([{ question: 'Release 1.4.0?\nWhat is new in 1.4.0', by: 'others' }]);
  const id = (await questions())[0]?.id ?? '';
  await expect(sender.questions.answer(id, 'approve')).rejects.toMatchObject({ status: 403 });
  await other.questions.answer(id, 'approve');
  expect(await task.result()).toEqual({ version: '1.4.0', isReleased: true });
  expect((await task.read()).output).toBe(released);
  const journal = await collect(task.journal());
  expect(journal.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'definition release',
    'step read the changes',
    'question Release 1.4.0?\nWhat is new in 1.4.0',
    'step tag',
    'step publish',
    'step announce',
  ]);
});
