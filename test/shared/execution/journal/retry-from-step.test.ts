import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { MusterError } from '#shared/errors/error-codes.ts';
import { retryFromStep } from '#shared/execution/journal/retry-from-step.ts';
import { copyJournal } from '#shared/ledger/journal/copy-journal.ts';
import { readJournal } from '#shared/ledger/journal/read-journal.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { Task } from '#shared/tasks/task.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const LATER_MS = 30 * 86_400_000;

const parts = await useEmptyParts({});

const entry = (seq: number, status: 'completed' | 'failed' | 'started'): Parameters<typeof copyJournal>[1]['entries'][number] => ({
  seq,
  kind: seq === 1 ? 'definition' : 'step',
  name: `entry ${seq}`,
  status,
  attempt: 1,
  startedAt: 1,
});

/** A task with a journal of four entries, the last of which had begun. */
async function original(): Promise<Task> {
  const request = { tenant: 'default', agent: 'echo', input: 'x', session: 's', metadata: { order: 7 }, user: 'ann' } as const;
  const { id } = await acceptTask(parts, request);
  const entries = [entry(1, 'completed'), entry(2, 'completed'), entry(3, 'failed'), entry(4, 'started')];
  await copyJournal(parts.ledger, { tenant: 'default', to: id, entries });
  return (await readTask(parts.ledger, 'default', id)) as Task;
}

it('a retry from a step is a new task of the same request, with the journal up to that step', async () => {
  const task = await original();
  const { id } = await retryFromStep(parts, task, 3);
  expect(id).not.toBe(task.body.id);
  const { entries } = await readJournal(parts.ledger, { tenant: 'default', id });
  expect(entries.map(({ seq, status }) => [seq, status])).toEqual([
    [1, 'completed'],
    [2, 'completed'],
  ]);
  const made = await readTask(parts.ledger, 'default', id);
  expect(made?.body).toMatchObject({
    input: 'x',
    session: 's',
    metadata: { order: 7 },
    user: 'ann',
    trigger: 'retry',
    sourceId: task.body.id,
  });
});

it('a retry from a step keeps the files of the steps before it, also once the first task is gone', async () => {
  const task = await original();
  const { tenant, id } = task.body;
  const upload = { name: 'step-2.json', mediaType: 'application/json' };
  const { file } = await parts.files.upload(tenant, upload, Readable.from([Buffer.from('"x"')]));
  const entries = [entry(1, 'completed'), { ...entry(2, 'completed'), large: { file, bytes: 3, of: id } }];
  await copyJournal(parts.ledger, { tenant, to: id, entries });
  await retryFromStep(parts, task, 3);
  await parts.redis.hdel(parts.keys.tenant(tenant).bodies, id);
  await parts.files.removeUnused(Date.now() + LATER_MS);
  expect(await parts.files.find(tenant, file)).toMatchObject({ bytes: 3 });
});

it.each([1, 5, 9])('a retry from %s, where no entry is or one has not ended, is refused and leaves nothing', async (fromStep) => {
  const task = await original();
  const before = await parts.redis.keys('*journal:*');
  const refusal = await retryFromStep(parts, task, fromStep).then(
    () => expect.unreachable('it is refused'),
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(MusterError);
  expect(refusal).toMatchObject({ code: 'request.invalid' });
  expect((await parts.redis.keys('*journal:*')).length).toBe(before.length);
});
