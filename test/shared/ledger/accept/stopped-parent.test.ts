import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { acceptNewTask, acceptNewTasks, offerMessage } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask, reopenTask } from '#shared/ledger/change-task.ts';
import { aTask, DONE, limitsOf, retry, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const keys = test.keys.tenant(TENANT);
const LANE = { name: 'session:a', limit: 1 };

const childOf = (parentTaskId: string, wish: TaskWish = {}): TaskWish => ({ ...wish, parentTaskId, source: 'delegation' });
const cancel = async (id: string, ledger = test.ledger): Promise<unknown> => await cancelTask(ledger, await test.place(id), 'enough');

/** A child of the task that has completed. */
async function completedChild(parent: string): Promise<string> {
  const id = await test.accepted(childOf(parent));
  await test.completed(id);
  return id;
}

/** Stops a running task, whose agent comes to a result nevertheless. */
async function completedAfterStop(id: string): Promise<void> {
  const held = await test.claimed(id);
  await cancel(id);
  await test.settle(held, DONE);
}

/** The acceptance of a child and the stop of its parent, in their order. */
async function eventsOf(child: string, parent: string): Promise<string[]> {
  const entries = await test.redis.xrange(keys.events, '-', '+');
  return entries.flatMap(([, [, event = '', , tasks = '']]) => {
    if (tasks === child && event === 'task.created') return [`child ${event}`];
    return tasks === parent && event === 'task.cancelled' ? [`parent ${event}`] : [];
  });
}

describe('a delegated task', () => {
  it('is accepted below a task that waits, runs or has completed', async () => {
    const parent = await test.accepted();
    const ids = [await test.accepted(childOf(parent))];
    const held = await test.claimed(parent);
    ids.push(await test.accepted(childOf(parent)));
    await test.settle(held, DONE);
    ids.push(await test.accepted(childOf(parent)), await test.accepted(childOf(await completedChild(parent), { lane: LANE })));
    expect(await test.statuses(...ids)).toEqual(['queued', 'queued', 'queued', 'queued']);
  });

  it.each([
    ['that ended as cancelled', 'cancelled', cancel],
    ['whose worker has not obeyed yet', 'running', async (id: string) => (await test.claimed(id), await cancel(id))],
    ['that completed before its worker obeyed', 'completed', completedAfterStop],
  ] as const)('is refused below a stopped task %s', async (_which, status, stop) => {
    const parent = await test.accepted();
    await stop(parent);
    expect(await test.accept(childOf(parent))).toEqual({ kind: 'stopped', above: parent, status });
    expect(await test.accept(childOf(parent, { lane: LANE, mode: 'interrupt', key: 'k' }))).toEqual({
      kind: 'stopped',
      above: parent,
      status,
    });
  });

  it('is refused below ended tasks of a stopped one', async () => {
    const root = await test.accepted();
    const child = await completedChild(root);
    const grandchild = await completedChild(child);
    await cancel(root);
    expect(await test.accept(childOf(grandchild))).toEqual({ kind: 'stopped', above: root, status: 'cancelled' });
  });

  it('is accepted below a task that a person retried since what is above it was stopped', async () => {
    const root = await test.accepted();
    const child = await test.accepted(childOf(root));
    await test.settle(await test.claimed(child), retry(null));
    await cancel(root);
    expect(await test.accept(childOf(child))).toMatchObject({ kind: 'stopped', above: root });
    await reopenTask(test.ledger, await test.place(child));
    await test.accepted(childOf(child));
  });

  it('leaves nothing and uses up no rate when it is refused', async () => {
    const parent = await test.accepted();
    await cancel(parent);
    test.limits = limitsOf({ rates: { user: { perMinute: 60, perHour: 1000, burst: 1 } } });
    for (let tries = 0; tries < 3; tries += 1) expect(await test.accept(childOf(parent, { key: 'k' }))).toMatchObject({ kind: 'stopped' });
    expect([await test.redis.hkeys(keys.bodies), await test.redis.exists(keys.idempotency('k'))]).toEqual([[parent], 0]);
    await test.accepted();
  });

  it('is refused by itself among others of one call', async () => {
    const [stopped, going] = [await test.accepted(), await test.accepted()];
    await cancel(stopped);
    const wishes = [{}, childOf(stopped), childOf(going), childOf(stopped, { lane: LANE }), { lane: LANE }];
    const answers = await acceptNewTasks(
      test.ledger,
      wishes.map((wish) => aTask(wish)),
    );
    expect(answers.map((answer) => 'kind' in answer && answer.kind)).toEqual(['accepted', 'stopped', 'accepted', 'stopped', 'accepted']);
  });

  it('stays what it was when its request is repeated after the stop', async () => {
    const parent = await test.accepted();
    const [plain, keyed, message] = [
      aTask(childOf(parent)),
      aTask(childOf(parent, { key: 'k' })),
      aTask(childOf(parent, { lane: LANE, mode: 'latest' })),
    ];
    const accept = async (): Promise<unknown[]> => [
      (await acceptNewTask(test.ledger, plain)).kind,
      (await acceptNewTask(test.ledger, keyed)).kind,
      (await acceptNewTask(test.ledger, message)).kind,
    ];
    expect(await accept()).toEqual(['accepted', 'accepted', 'accepted']);
    await cancel(parent);
    expect(await accept()).toEqual(['duplicate', 'duplicate', 'duplicate']);
  });

  it('is accepted before the stop or refused after it, whichever process is first', async () => {
    const kinds = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const parent = await test.accepted();
      const place = await test.place(parent);
      const own: TaskWish = round % 2 === 0 ? {} : { lane: { name: `session:${round}`, limit: 1 }, mode: 'interrupt' };
      const task = aTask(childOf(parent, own));
      const stop = async (): Promise<string> => {
        // What is accepted is sent with all others of its turn.
        await setImmediate();
        return (await cancelTask(test.rival, place, 'enough')).kind;
      };
      const accept = async (): Promise<string> => (await acceptNewTask(test.ledger, task)).kind;
      const [one, other] = await Promise.all(round % 4 < 2 ? [accept(), stop()] : [stop(), accept()]);
      const kind = round % 4 < 2 ? one : other;
      kinds.add(kind);
      const accepted = kind === 'accepted' ? ['child task.created'] : [];
      expect(await eventsOf(task.body.id, parent)).toEqual([...accepted, 'parent task.cancelled']);
    }
    expect(kinds).toEqual(new Set(['accepted', 'stopped']));
  });
});

describe('input for a running task', () => {
  it('is refused when the task that sends it was stopped', async () => {
    const [sender, target] = [await test.accepted(), await test.accepted({ lane: LANE, takesInput: true })];
    await test.claimed(target);
    await cancel(sender);
    const input = aTask(childOf(sender, { lane: LANE, mode: 'steer' }));
    expect(await offerMessage(test.ledger, input, target)).toMatchObject({ kind: 'stopped', above: sender });
  });
});
