import { afterEach, expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { listEnded } from '#shared/ledger/ended-tasks.ts';
import { readDelegation } from '#shared/ledger/journal/delegation.ts';
import { readEntry } from '#shared/ledger/journal/read-journal.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { readState } from '#shared/ledger/read/read-states.ts';
import { readBody } from '#shared/ledger/read/read-tasks.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { followSubTasks } from '#shared/waits/sub-tasks/resume-parent.ts';
import { seeToWait } from '#shared/waits/see-to-wait.ts';
import { delegatedBy, delegationText, readAnswers, type SubTask } from '#shared/waits/sub-tasks/sub-tasks.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const TENANT = 'default';
const SEQ = 2;

const parts = await useEmptyParts({
  agents: { boss: { kind: 'echo' }, one: { kind: 'echo' }, two: { kind: 'echo' } },
  runaways: { maxDescendants: 3 },
});
const { ledger } = parts;

async function settle(id: string, end: AttemptEnd, by = ledger): Promise<void> {
  const place = { tenant: TENANT, id, lane: null };
  const claimed = await claimTask(ledger, place, 'w');
  if (claimed.kind !== 'claimed') throw new Error(`The task was not claimed: ${claimed.kind}`);
  await settleAttempt(by, { ...place, token: claimed.state.token }, end);
}

/** A run that was suspended at these sub-tasks, whose process died then. */
async function suspendedAt(
  tasks: readonly SubTask[],
  { by, ...request }: { parentTaskId?: string; deadline?: string; agent?: string; by?: Ledger } = {},
): Promise<string> {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'boss', input: 'go', ...request });
  const startedAt = Date.now();
  const wait = delegationText({ tenant: TENANT, id, seq: SEQ, startedAt }, tasks);
  const entry = { seq: SEQ, kind: 'delegate', name: 'one', status: 'waiting', attempt: 1, startedAt, wait } as const;
  const hold = { gate: 'children', what: id } as const;
  await settle(id, { kind: 'suspended', reason: 'waits', wait: { hold, entry, until: null, holdLaneMs: 0 } }, by);
  return id;
}

const statusOf = async (id: string): Promise<string | undefined> => (await readState(ledger, TENANT, id))?.status;

const childrenOf = async (id: string): Promise<string[]> =>
  delegatedBy((await readEntry(ledger, { tenant: TENANT, id }, SEQ)) ?? expect.unreachable()).map((task) => task.id);

const answersOf = async (id: string): ReturnType<typeof readAnswers> =>
  await readAnswers(ledger, TENANT, (await readEntry(ledger, { tenant: TENANT, id }, SEQ)) ?? expect.unreachable());

const done: AttemptEnd = { kind: 'completed', output: 'done', result: '{"n":1}', usage: null };

afterEach(async () => {
  await parts.relay.idle();
});

it('sub-tasks are accepted once, however often and by how many processes their wait is seen to', async () => {
  const deadline = new Date(Date.now() + 60_000).toISOString();
  const late = new Date(Date.now() + 120_000).toISOString();
  const id = await suspendedAt(
    [
      { agent: 'one', input: 'a', deadline: late, timeoutMs: 7000 },
      { agent: 'two', input: 'b', priority: 'high', within: '2h' },
    ],
    { deadline },
  );
  const see = (): Promise<string | null> => seeToWait(parts, { tenant: TENANT, id, entry: 2 });
  expect(await Promise.all([see(), see()])).toEqual([null, null]);
  await see();
  const ids = await childrenOf(id);
  const states = await Promise.all(ids.map((child) => readState(ledger, TENANT, child)));
  const common = { status: 'queued', source: 'delegation', deadline: Date.parse(deadline) };
  expect(states).toMatchObject([
    { ...common, agent: 'one', priority: 4, timeoutMs: 7000 },
    { ...common, agent: 'two', priority: 8 },
  ]);
  const bodies = await Promise.all(ids.map((child) => readBody(ledger, TENANT, child)));
  expect(bodies.map((body) => body?.execution.withinMs)).toEqual([undefined, 7_200_000]);
  expect(await readDelegation(ledger, { tenant: TENANT, id, seq: SEQ })).toEqual({ ids, refused: {} });
  // Two descend from it: a third one fits, a fourth does not.
  await acceptTask(parts, { tenant: TENANT, agent: 'one', input: 'c', parentTaskId: id });
  await expect(acceptTask(parts, { tenant: TENANT, agent: 'one', input: 'd', parentTaskId: id })).rejects.toMatchObject({
    code: 'task.runaway',
  });
});

it('a run goes on once, when the last of its sub-tasks has ended, with what each came to', async () => {
  const id = await suspendedAt([
    { agent: 'one', input: 'a' },
    { agent: 'two', input: 'b' },
    { agent: 'nobody', input: 'c' },
  ]);
  await seeToWait(parts, { tenant: TENANT, id, entry: 2 });
  const [first = '', second = ''] = await childrenOf(id);
  await settle(first, done);
  await followSubTasks(parts, 0);
  expect(await statusOf(id)).toBe('suspended');
  await cancelTask(ledger, { tenant: TENANT, id: second, lane: null }, 'not any more');
  await Promise.all([followSubTasks(parts, 0), followSubTasks(parts, 0)]);
  expect(await statusOf(id)).toBe('queued');
  expect(await listEnded(ledger, 0, 'parent', 10)).toEqual([]);
  expect(await answersOf(id)).toEqual([
    { status: 'completed', output: 'done', result: { n: 1 }, error: null },
    { status: 'cancelled', output: null, result: null, error: { code: 'CANCELLED', message: 'not any more' } },
    { status: 'refused', output: null, result: null, error: { code: 'agent.unknown', message: 'There is no agent "nobody"' } },
  ]);
});

it('a run whose sub-tasks had ended when its process died goes on when its wait is seen to', async () => {
  const id = await suspendedAt([{ agent: 'one', input: 'a' }]);
  const [child = ''] = await childrenOf(id);
  await acceptTask(parts, { tenant: TENANT, agent: 'one', input: 'a', id: child, parentTaskId: id, parentWaits: true });
  await settle(child, done);
  await followSubTasks(parts, 0);
  expect(await statusOf(id)).toBe('suspended');
  await seeToWait(parts, { tenant: TENANT, id, entry: 2 });
  expect(await statusOf(id)).toBe('queued');
});

it('a run whose wait is sealed with a key that is not here goes on, and the wait stays for a process that has it', async () => {
  const by = { ...ledger, seal: new Seal({ key: Buffer.alloc(32, 1) }) };
  const id = await suspendedAt([{ agent: 'one', input: 'patience' }], { by });
  const journal = parts.keys.tenant(TENANT).journal(id);
  expect(JSON.stringify(await parts.redis.hgetall(journal))).not.toContain('patience');
  const before = await readEntry(by, { tenant: TENANT, id }, SEQ);
  await seeToWait(parts, { tenant: TENANT, id, entry: SEQ });
  expect(await statusOf(id)).toBe('queued');
  expect(before?.wait).toContain('patience');
  expect(await readEntry(by, { tenant: TENANT, id }, SEQ)).toEqual(before);
});

it('an agent that is in the chain already is refused, with the chain', async () => {
  const id = await suspendedAt([{ agent: 'one', input: 'a' }]);
  await seeToWait(parts, { tenant: TENANT, id, entry: 2 });
  const below = await suspendedAt([{ agent: 'boss', input: 'b' }], { agent: 'two', parentTaskId: (await childrenOf(id))[0] ?? '' });
  await seeToWait(parts, { tenant: TENANT, id: below, entry: 2 });
  const message = 'Sub-tasks lead in a circle: boss > one > two > boss';
  expect(await answersOf(below)).toMatchObject([{ status: 'refused', error: { code: 'task.loop', message } }]);
  expect(await statusOf(below)).toBe('queued');
});

it('a run that was cancelled before its sub-tasks were accepted has none', async () => {
  const id = await suspendedAt([{ agent: 'one', input: 'a' }]);
  const [child = ''] = await childrenOf(id);
  await cancelTask(ledger, { tenant: TENANT, id, lane: null }, 'not any more');
  await seeToWait(parts, { tenant: TENANT, id, entry: 2 });
  expect(await statusOf(child)).toBeUndefined();
});
