import { expect, it } from 'vitest';
import { claimTask, readBody, readEntry, readState, settleAttempt } from '#shared/ledger/index.ts';
import type { TaskPlace } from '#shared/ledger/context.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainWait } from '#shared/queue/index.ts';
import { delegatedBy, delegationText } from '#shared/waits/sub-tasks/sub-tasks.ts';
import { seeToWaits } from '../../../../services/worker/chores/see-to-waits.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'acme';
const SEQ = 2;

const parts = await useEmptyParts({
  agents: { boss: { kind: 'echo' }, one: { kind: 'echo' } },
  limits: { tenant: { running: 1, waiting: 0 } },
});
const { ledger } = parts;
const { waits } = parts.keys.shard(0);

async function claim(id: string): Promise<TaskPlace & { token: number }> {
  const place = { tenant: TENANT, id, lane: null };
  const claimed = await claimTask(ledger, place, 'w');
  if (claimed.kind !== 'claimed') throw new Error(`The task was not claimed: ${claimed.kind}`);
  return { ...place, token: claimed.state.token };
}

async function complete(id: string): Promise<void> {
  await settleAttempt(ledger, await claim(id), { kind: 'completed', output: 'done', result: null, usage: null });
}

/** A run that was suspended at two sub-tasks, whose process died then. Returns its id and theirs. */
async function suspendedRun(request: { keyId?: string; correlationId?: string; traceparent?: string } = {}): Promise<[string, string[]]> {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'boss', input: 'go', priority: 7, source: 'webhook', ...request });
  const attempt = await claim(id);
  const startedAt = Date.now();
  const tasks = ['a', 'b'].map((input) => ({ agent: 'one', input }));
  const wait = delegationText({ tenant: TENANT, id, seq: SEQ, startedAt }, tasks);
  const entry = { seq: SEQ, kind: 'delegate', name: 'one', status: 'waiting', attempt: 1, startedAt, wait } as const;
  const hold = { gate: 'children', what: id } as const;
  const end = { kind: 'suspended', reason: 'waits', wait: { hold, entry, until: null, holdLaneMs: 0 } } as const;
  await settleAttempt(ledger, attempt, end);
  const kept = await readEntry(ledger, { tenant: TENANT, id }, SEQ);
  return [id, delegatedBy(kept ?? entry).map((task) => task.id)];
}

/** Sees to what is left, and returns the lines of its log. */
async function round(): Promise<[string, string | undefined][]> {
  const lines: [string, string | undefined][] = [];
  const write =
    (level: string) =>
    (fields: { event?: string }): void =>
      void lines.push([level, fields.event]);
  const log = Object.assign(Object.create(parts.log) as typeof parts.log, {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  });
  // As if its process had died long ago.
  for (const member of await parts.redis.zrange(waits, '0', '-1')) await parts.redis.zadd(waits, 1, member);
  await seeToWaits({ ...parts, log }, new AbortController().signal);
  return lines;
}

async function why(id: string): Promise<string | undefined> {
  const state = await readState(ledger, TENANT, id);
  if (!state) return undefined;
  const { reasons } = await explainWait(parts, { body: { id, tenant: TENANT }, state, attempts: [] });
  return reasons[0]?.detail;
}

it('a sub-task that a limit refuses is accepted later, once, and that it was refused is no error', async () => {
  const [parent, [a = '', b = '']] = await suspendedRun();
  const statuses = async (): Promise<unknown[]> =>
    await Promise.all([a, b, parent].map(async (id) => (await readState(ledger, TENANT, id))?.status));
  expect(await round()).toEqual([['info', 'wait.later']]);
  expect(await why(parent)).toBe('its run waits for sub-tasks, some of which are not accepted yet: 0 tasks of tenant acme wait already');
  expect(await round()).toEqual([['info', 'wait.later']]);
  expect(await statuses()).toEqual(['queued', undefined, 'suspended']);
  await complete(a);
  expect(await round()).toEqual([]);
  expect(await statuses()).toEqual(['completed', 'queued', 'suspended']);
  expect(await parts.redis.zcard(waits)).toBe(0);
  expect(await why(parent)).toBe('waits');
  const tree = await parts.redis.hget(parts.keys.tenant(TENANT).taskTree(parent), 'tasks');
  expect(tree).toBe('2');
});

it('a sub-task has the key, the trace and the mistrust of its parent, and a priority that is one lower', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const [id, [child = '']] = await suspendedRun({ keyId: 'key-1', correlationId: 'c-1', traceparent });
  await round();
  const parent = await readBody(ledger, TENANT, id);
  expect(await readBody(ledger, TENANT, child)).toMatchObject({
    keyId: 'key-1',
    correlationId: 'c-1',
    untrusted: true,
    source: 'delegation',
    session: null,
    rootTaskId: id,
    parentTaskId: id,
    depth: 1,
    traceparent: expect.stringContaining(parent?.traceparent.split('-')[1] ?? 'none'),
  });
  expect((await readState(ledger, TENANT, child))?.priority).toBe(6);
});
