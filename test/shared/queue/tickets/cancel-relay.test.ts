import { describe, expect, it, onTestFinished } from 'vitest';
import { claimTask, type Ledger, type OpenCancel, readState } from '#shared/ledger/index.ts';
import { createLog } from '#shared/log/create-log.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { CancelRelay, type CancelRelayOptions } from '#shared/queue/tickets/cancel-relay.ts';
import { continueCancel } from '#shared/queue/index.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { continueAll, dyingAt } from './dying-ledger.ts';

const TENANT = 'default';
const REASON = 'its parent task was cancelled: a newer message took its place';
const parts = await useEmptyParts();

const submit = async (more: Partial<AcceptRequest>, intake = parts): Promise<string> =>
  (await acceptTask(intake, { tenant: TENANT, agent: 'echo', input: 'x', ...more })).id;

const interrupt = async (ledger: Ledger = parts.ledger): Promise<string> =>
  await submit({ session: 'room', source: 'chat', mode: 'interrupt' }, { ...parts, ledger });

/** A running task of a session; below it two sub-tasks, of which one runs, each with one of its own. Returns all below it. */
async function runTree(): Promise<string[]> {
  const root = await submit({ session: 'room', source: 'chat' });
  await claim(root, 'session:room');
  const children = [await submit({ parentTaskId: root }), await submit({ parentTaskId: root })];
  await claim(children[0] ?? '', null);
  return [...children, ...(await Promise.all(children.map((parentTaskId) => submit({ parentTaskId }))))];
}

async function claim(id: string, lane: string | null): Promise<void> {
  const { kind } = await claimTask(parts.ledger, { tenant: TENANT, id, lane }, 'w1');
  if (kind !== 'claimed') throw new Error(`The task was not claimed: ${kind}`);
}

/** Why each task was stopped, or its status when it was not. */
const reasons = async (ids: readonly string[]): Promise<unknown[]> =>
  await Promise.all(
    ids.map(async (id) => {
      const state = await readState(parts.ledger, TENANT, id);
      return state?.cancel?.reason ?? state?.outcome?.reason ?? state?.status;
    }),
  );

const openCancels = async (): Promise<number> => await parts.redis.zcard(parts.keys.shard(0).openCancels);

/** A relay with what it logs, closed after the test. */
function openRelay(run: CancelRelayOptions['run']): { relay: CancelRelay; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', service: 'test', destination: { write: (line) => void lines.push(line) } });
  const relay = new CancelRelay({ run, log });
  onTestFinished(() => relay.close());
  return { relay, lines };
}

describe('a message that stops a task with sub-tasks', () => {
  it('cancels all below it, whatever runs and whatever waits', async () => {
    const below = await runTree();
    const id = await interrupt();
    await parts.cancels.idle();
    expect(await reasons(below)).toEqual(below.map(() => REASON));
    expect([await openCancels(), await reasons([id])]).toEqual([0, ['pending']]);
  });

  it('is accepted before they are', async () => {
    const below = await runTree();
    const { promise, resolve } = Promise.withResolvers<number>();
    const { relay } = openRelay(() => promise);
    await interrupt({ ...parts.ledger, onOpenCancel: (cancel) => relay.add(cancel) });
    expect((await reasons(below)).includes(REASON)).toBe(false);
    resolve(0);
    expect(await openCancels()).toBe(1);
  });

  it('leaves them to workers at whichever call its process dies behind the acceptance', async () => {
    const left: string[] = [];
    let deaths = 0;
    for (let call = 1, hasDied = true; hasDied; call += 1) {
      const below = await runTree();
      const { relay, lines } = openRelay((cancel) => continueCancel(dyingAt(parts.ledger, call), cancel));
      await interrupt({ ...parts.ledger, onOpenCancel: (cancel) => relay.add(cancel) });
      await relay.idle();
      hasDied = lines.length > 0;
      deaths += lines.length;
      await continueAll(parts.ledger);
      if ((await reasons(below)).some((reason) => reason !== REASON)) left.push(`some below after call ${call}`);
      if ((await openCancels()) > 0) left.push(`an open cancel after call ${call}`);
      await parts.relay.idle();
      await parts.redis.flushall();
    }
    expect(left).toEqual([]);
    expect(deaths).toBeGreaterThan(5);
  });
});

const cancelOf = (id: string): OpenCancel => ({ tenant: TENANT, id, reason: 'enough' });

describe('a relay of cancels', () => {
  it('logs what it cannot do, and goes on with others', async () => {
    const done: string[] = [];
    const { relay, lines } = openRelay(({ id }) => {
      if (id === 'bad') return Promise.reject(new Error('no Redis'));
      done.push(id);
      return Promise.resolve(1);
    });
    for (const id of ['bad', 'good']) relay.add(cancelOf(id));
    await relay.idle();
    expect(done).toEqual(['good']);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([expect.objectContaining({ task: 'bad', tenant: TENANT })]);
  });

  it('has a bound, beyond which workers have to do it', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    let begun = 0;
    const { relay } = openRelay(() => ((begun += 1), promise));
    for (let number = 0; number < 150; number += 1) relay.add(cancelOf(`${number}`));
    expect(begun).toBe(100);
    resolve(0);
    await relay.idle();
    relay.add(cancelOf('later'));
    expect(begun).toBe(101);
  });

  it('ends between two tasks with sub-tasks when its process stops, and begins nothing more', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const may: boolean[] = [];
    const { relay } = openRelay(async (_cancel, mayContinue) => {
      may.push(mayContinue());
      await promise;
      may.push(mayContinue());
      return 0;
    });
    relay.add(cancelOf('a'));
    const closed = relay.close();
    relay.add(cancelOf('b'));
    resolve(0);
    await closed;
    expect(may).toEqual([true, false]);
  });
});
