import { describe, expect, it } from 'vitest';
import { acceptNewTasks, claimTask, readState, settleAttempt } from '#shared/ledger/index.ts';
import { cancelTree, continueCancel } from '#shared/queue/index.ts';
import { aTask } from '../../ledger/support/test-ledger.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { continueAll, dyingAt } from './dying-ledger.ts';

const parts = await useEmptyParts();

const TENANT = 'default';
/** More than a root may have by default, which a higher `runaways.maxDescendants` admits. */
const MANY = 1100;

interface Tree {
  root: string;
  /** All below it, the root's children first. */
  below: string[];
  completed: string;
}

/** A root with children, each with children and one grandchild; some run, and one has completed. */
async function makeTree(): Promise<Tree> {
  const root = aTask({ tenant: TENANT });
  const under = (parent: { body: { id: string } }, count: number): ReturnType<typeof aTask>[] =>
    Array.from({ length: count }, () => aTask({ tenant: TENANT, parentTaskId: parent.body.id, source: 'delegation' }));
  const children = under(root, 3);
  const grandchildren = children.flatMap((child) => under(child, 3));
  const last = grandchildren.slice(0, 2).flatMap((each) => under(each, 1));
  const all = [root, ...children, ...grandchildren, ...last];
  await acceptNewTasks(parts.ledger, all);
  const [, , completed, running] = all.map(({ body }) => body.id);
  for (const id of [root.body.id, completed ?? '', running ?? '']) await claim(id);
  const attempt = { tenant: TENANT, id: completed ?? '', lane: null, token: 1 };
  await settleAttempt(parts.ledger, attempt, { kind: 'completed', output: 'x', result: null, usage: null });
  return { root: root.body.id, below: all.slice(1).map(({ body }) => body.id), completed: completed ?? '' };
}

async function claim(id: string): Promise<void> {
  const { kind } = await claimTask(parts.ledger, { tenant: TENANT, id, lane: null }, 'w1');
  if (kind !== 'claimed') throw new Error(`The task was not claimed: ${kind}`);
}

/** Tasks that were not stopped, of those that were to be. */
async function missed({ root, below, completed }: Tree): Promise<string[]> {
  const states = await Promise.all([root, ...below].map(async (id) => await readState(parts.ledger, TENANT, id)));
  const isStopped = states.map((state) => state?.status === 'cancelled' || state?.cancel !== undefined);
  return [root, ...below].filter((id, position) => id !== completed && !isStopped[position]);
}

const openCancels = async (): Promise<number> => await parts.redis.zcard(parts.keys.shard(0).openCancels);

describe('the cancel of a task with all below it', () => {
  it('reaches every task, however many they are', async () => {
    const root = aTask({ tenant: TENANT });
    const children = Array.from({ length: MANY }, () => aTask({ tenant: TENANT, parentTaskId: root.body.id }));
    await acceptNewTasks(parts.ledger, [root, ...children]);
    // Half a character in a reason comes to Redis as another one.
    const { answer, subTasks } = await cancelTree(parts.ledger, TENANT, root.body.id, 'enough \ud800');
    expect([answer.kind, subTasks, await openCancels()]).toEqual(['cancelled', MANY, 0]);
  });

  it('reaches every level, past tasks that have ended, with the reason of the first', async () => {
    const tree = await makeTree();
    const { answer, subTasks } = await cancelTree(parts.ledger, TENANT, tree.root, 'enough');
    expect([answer.kind, subTasks, await missed(tree), await openCancels()]).toEqual(['stopping', tree.below.length - 1, [], 0]);
    const last = await readState(parts.ledger, TENANT, tree.below.at(-1) ?? '');
    expect(last?.outcome).toEqual({ kind: 'cancelled', reason: 'its parent task was cancelled: enough' });
  });

  it('is completed by others at whichever call its process dies', async () => {
    const outcomes = new Set<string>();
    const left: string[] = [];
    for (let call = 2; !outcomes.has('completed with none left'); call += 1) {
      const tree = await makeTree();
      const end = await cancelTree(dyingAt(parts.ledger, call), TENANT, tree.root, 'enough').then(
        () => 'completed',
        () => 'died',
      );
      const before = await missed(tree);
      // A cancel that had not begun is the caller's to repeat.
      if (!before.includes(tree.root)) {
        await continueAll(parts.ledger);
        outcomes.add(`${end} with ${before.length === 0 ? 'none' : 'some'} left`);
        left.push(...(await missed(tree)).map((id) => `${id} after call ${call}`));
        if ((await openCancels()) > 0) left.push(`an open cancel after call ${call}`);
      }
      await parts.relay.idle();
      await parts.redis.flushall();
    }
    expect(left).toEqual([]);
    expect(outcomes).toEqual(new Set(['died with some left', 'died with none left', 'completed with none left']));
  });

  it('is completed when those who continue it die as well, again and again', async () => {
    const tree = await makeTree();
    await expect(cancelTree(dyingAt(parts.ledger, 4), TENANT, tree.root, 'enough')).rejects.toThrow('died');
    let deaths = 0;
    // Enough calls to take one and to cancel what its task delegated.
    while ((await openCancels()) > 0)
      deaths += await continueAll(dyingAt(parts.ledger, 10)).then(
        () => 0,
        () => 1,
      );
    expect(deaths).toBeGreaterThan(2);
    expect(await missed(tree)).toEqual([]);
  });

  it('counts and notifies each task once when several processes continue it at once', async () => {
    const tree = await makeTree();
    await expect(cancelTree(dyingAt(parts.ledger, 4), TENANT, tree.root, 'enough')).rejects.toThrow('died');
    const cancel = { tenant: TENANT, id: tree.root, reason: 'enough' };
    await Promise.all([continueCancel(parts.ledger, cancel), continueCancel(parts.ledger, cancel), continueAll(parts.ledger)]);
    await continueAll(parts.ledger);
    expect([await missed(tree), await openCancels()]).toEqual([[], 0]);
    const events = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
    const cancelled = events.flatMap(([, [, event, , ids]]) => (event === 'task.cancelled' ? [ids] : []));
    expect(cancelled.length).toBe(new Set(cancelled).size);
  });

  it('stops between two tasks with sub-tasks, and the rest stays open', async () => {
    const tree = await makeTree();
    await expect(cancelTree(dyingAt(parts.ledger, 4), TENANT, tree.root, 'enough')).rejects.toThrow('died');
    let asked = 0;
    await continueCancel(parts.ledger, { tenant: TENANT, id: tree.root, reason: 'enough' }, () => (asked += 1) < 2);
    expect([(await missed(tree)).length > 0, await openCancels()]).toEqual([true, 3]);
    await continueAll(parts.ledger);
    expect(await missed(tree)).toEqual([]);
  });
});
