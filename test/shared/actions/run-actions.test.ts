import { beforeEach, describe, expect, it } from 'vitest';
import type { Action, ActionName } from '#shared/actions/action.ts';
import { ActionStore } from '#shared/actions/action-store.ts';
import { applyToTask } from '#shared/actions/apply-to-task.ts';
import { cancelAction } from '#shared/actions/cancel-action.ts';
import { type ActionRequest, createAction } from '#shared/actions/create-action.ts';
import { runActions } from '#shared/actions/run-actions.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { measureTenant } from '#shared/ledger/tenants/storage.ts';
import { readTask, readTasks } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { retryTask } from '#shared/queue/index.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import type { Clock } from '#shared/time/clock.ts';
import { driveTasks } from '../../services/api/support/drive-tasks.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const TENANT = 'default';
/** More than are under way at once. */
const STEP = 15;
const LEASE_MS = 10_000;

const parts = await useEmptyParts({ actions: { stepTasks: STEP, leaseMs: LEASE_MS, maxKept: 3, maxActive: 2 } });
const { ledger, redis, keys } = parts;
const drive = driveTasks(parts);
const store = new ActionStore(ledger);

/** Monotonic time that a test moves: no time passes by itself. */
let monotonic = 0;
const clock: Clock = { now: () => Date.now(), monotonic: () => monotonic };
beforeEach(() => {
  monotonic = 0;
});

const submit = async (request: Partial<AcceptRequest> = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', ...request })).id;

async function failed(count: number): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: count }, () => submit()));
  for (const id of ids) await drive.fail(id, null);
  return ids;
}

const create = async (action: ActionName, filter: ActionRequest['filter'] = {}): Promise<string> =>
  (await createAction(ledger, { tenant: TENANT, action, filter, reason: null, by: null })).action.id;
const read = async (id: string): Promise<Action | undefined> => (await store.find(TENANT, id))?.action;
const runToEnd = async (changed: Ledger = ledger): Promise<void> => await runActions({ ...parts, ledger: changed }, clock, 1);
const due = async (id: string): Promise<void> => void (await redis.zadd(keys.shard(0).actionsDue, 0, `${TENANT}/${id}`));

/** How often each task was retried. */
async function retriesOf(ids: readonly string[]): Promise<number[]> {
  const tasks = await readTasks(ledger, TENANT, ids);
  return tasks.map((task) => parseTimeline(task?.state.log ?? '').filter(({ status }, step) => status === 'pending' && step > 0).length);
}

/** The ledger, of which `before` is called before each script that retries a task. */
function ledgerWith(before: (retries: number) => Promise<void> | void): Ledger {
  let retries = 0;
  return {
    ...ledger,
    run: async (name, keysOfCall, args) => {
      if (name === 'reopen-task') await before((retries += 1));
      return await ledger.run(name, keysOfCall, args);
    },
  };
}

describe('an action', () => {
  it('is applied to each task that fits, step by step, and counts them', async () => {
    const ids = await failed(2 * STEP + 1);
    const other = await submit();
    const id = await create('retry');
    expect(await read(id)).toMatchObject({ status: 'pending', matched: 2 * STEP + 1, isExact: true, done: 0 });
    await runToEnd();
    expect(await read(id)).toMatchObject({
      status: 'completed',
      matched: 2 * STEP + 1,
      done: 2 * STEP + 1,
      skipped: 0,
      failed: 0,
      step: null,
    });
    expect(await retriesOf([...ids, other])).toEqual([...ids.map(() => 1), 0]);
  });

  it('leaves out tasks that were accepted after it was made, and those that failed after that', async () => {
    const running = await submit();
    const attempt = await drive.start(running);
    const id = await create('retry');
    const late = await failed(1);
    await drive.end(attempt, 'done');
    const failing = await submit();
    await drive.fail(failing, null);
    await runToEnd();
    expect(await read(id)).toMatchObject({ status: 'completed', matched: 0, done: 0 });
    expect(await retriesOf([...late, failing])).toEqual([0, 0]);
  });

  it('is repeated from its step when its worker stands still, and retries no task twice, also one that failed again', async () => {
    const ids = await failed(STEP);
    const id = await create('retry');
    await runToEnd(
      ledgerWith((retries) => {
        // Its lease runs out in the middle of the step.
        if (retries === 2) monotonic += LEASE_MS;
      }),
    );
    expect(await read(id)).toMatchObject({ status: 'running', done: 0, step: { ids } });
    const begun = (await retriesOf(ids)).filter((retries) => retries === 1).length;
    expect(begun).toBeGreaterThan(0);
    for (const [position, retries] of (await retriesOf(ids)).entries()) if (retries === 1) await drive.fail(`${ids[position]}`, null);
    await due(id);
    await runToEnd();
    expect(await read(id)).toMatchObject({ status: 'completed', matched: STEP, done: STEP, skipped: 0, failed: 0 });
    expect(await retriesOf(ids)).toEqual(ids.map(() => 1));
  });

  it('retries no task twice when its worker stood still between reading and retrying it', async () => {
    const [task = ''] = await failed(1);
    const id = await create('retry');
    await runToEnd(
      ledgerWith(async (retries) => {
        if (retries > 1) return;
        // Meanwhile another worker runs the action, and the task fails again.
        await due(id);
        await runToEnd();
        await drive.fail(task, null);
      }),
    );
    expect(await read(id)).toMatchObject({ status: 'completed', done: 1 });
    expect(await retriesOf([task])).toEqual([1]);
    const state = (await readTask(ledger, TENANT, task))?.state;
    expect(state).toMatchObject({ status: 'permanently_failed', retriedBy: id });
    expect(state?.log).toContain(`retried by action ${id}`);
  });

  it('counts tasks that it could not be applied to, with the reason, and goes on', async () => {
    const ids = await failed(STEP);
    const id = await create('retry');
    await runToEnd(
      ledgerWith((retries) => {
        if (retries === 1) throw new Error('no such luck');
      }),
    );
    expect(await read(id)).toMatchObject({
      status: 'completed',
      done: STEP - 1,
      failed: 1,
      error: expect.stringMatching(/^\w{26}: no such luck$/),
    });
    expect((await retriesOf(ids)).filter((retries) => retries === 0)).toHaveLength(1);
  });

  it('ends after its step when it is cancelled, and counts that step', async () => {
    await failed(3 * STEP);
    const id = await create('retry');
    const seen: (string | undefined)[] = [];
    await runToEnd(ledgerWith(async () => void seen.push((await cancelAction(store, TENANT, id))?.status)));
    expect(new Set(seen)).toEqual(new Set(['cancelling']));
    expect(await read(id)).toMatchObject({ status: 'cancelled', matched: 3 * STEP, done: STEP, step: null });
    expect((await cancelAction(store, TENANT, id))?.status).toBe('cancelled');
  });

  it('is applied to no task when it is cancelled before its first step', async () => {
    const ids = await failed(1);
    const id = await create('retry');
    await cancelAction(store, TENANT, id);
    await runToEnd();
    expect(await read(id)).toMatchObject({ status: 'cancelled', done: 0 });
    expect(await retriesOf(ids)).toEqual([0]);
  });

  it('fails when its steps break off again and again', async () => {
    await failed(1);
    const id = await create('retry');
    const broken: Ledger = { ...ledger, run: () => Promise.reject(new Error('a mistake of ours')) };
    for (let fault = 0; fault < 5; fault += 1) {
      expect((await read(id))?.status).toBe('pending');
      await due(id);
      await runToEnd(broken);
    }
    expect(await read(id)).toMatchObject({ status: 'failed', done: 0, error: 'its steps broke off again and again' });
  });

  it('cancels what has not ended and discards what failed for good', async () => {
    const [dead = ''] = await failed(1);
    const [waiting, running] = [await submit(), await submit()];
    await drive.start(running);
    const cancelled = await create('cancel');
    await runToEnd();
    expect(await read(cancelled)).toMatchObject({ status: 'completed', matched: 2, done: 2 });
    expect((await readTask(ledger, TENANT, waiting))?.state).toMatchObject({
      status: 'cancelled',
      outcome: { kind: 'cancelled', reason: `cancelled by action ${cancelled}` },
    });
    expect((await readTask(ledger, TENANT, running))?.state.cancel).toBeDefined();
    const discarded = await create('discard');
    await runToEnd();
    expect(await read(discarded)).toMatchObject({ status: 'completed', matched: 1, done: 1 });
    expect(await readTask(ledger, TENANT, dead)).toBeNull();
    expect(await readTask(ledger, TENANT, waiting)).not.toBeNull();
  });

  it('spares a task that has changed since it was found: one that completed after a retry, and one that has started', async () => {
    const [retried = ''] = await failed(1);
    const discard = await read(await create('discard'));
    const cancel = await read(await create('cancel', { statuses: ['pending', 'queued'] }));
    if (!discard || !cancel) throw new Error('expected the actions');
    await retryTask(parts, TENANT, retried, 'by a person');
    await drive.end(await drive.start(retried), 'done');
    expect(await applyToTask(parts, discard, retried)).toBe('skipped');
    expect((await readTask(ledger, TENANT, retried))?.output).toBe('done');
    const started = await submit();
    await drive.start(started);
    expect(await applyToTask(parts, cancel, started)).toBe('skipped');
    expect((await readTask(ledger, TENANT, started))?.state.status).toBe('running');
  });

  it('is applied to named tasks step by step, whatever clock made their ids', async () => {
    const ids = await failed(2 * STEP + 1);
    const [left = '', ...named] = ids;
    const id = await create('retry', { ids: named.toReversed() });
    await runToEnd();
    expect(await read(id)).toMatchObject({ status: 'completed', matched: 2 * STEP, done: 2 * STEP, isExact: true });
    expect(await retriesOf([left, ...named])).toEqual([0, ...named.map(() => 1)]);
  });

  it.each<[string, ActionRequest['filter']]>([
    ['ids', { ids: ['01ARZ3NDEKTSV4RRFFQ69G5FAV'] }],
    ['a worker', { worker: 'worker-1' }],
    ['a release', { release: 'v1' }],
    ['metadata', { metadata: [{ key: 'a', value: '' }] }],
  ])('with %s cannot be read as one upon more tasks by a release that does not know them', async (_, filter) => {
    const id = await create('retry', filter);
    const stored = JSON.parse((await redis.hget(keys.tenant(TENANT).actions, id))?.replace(/^\d+ open /, '') ?? '');
    // That release reads the statuses of a filter, which it needs, and leaves out what it does not know.
    expect(stored.filter.statuses).toBeUndefined();
    expect((await read(id))?.filter).toMatchObject(filter);
  });

  it('is removed when its retention is over, and makes room for a newer one', async () => {
    const old: string[] = [];
    for (let made = 0; made < 4; made += 1) {
      old.push(await create('retry'));
      await runToEnd();
    }
    expect((await store.list(TENANT)).items.map(({ id }) => id)).toEqual(old.slice(1).toReversed());
    await due(`${old[1]}`);
    await runToEnd();
    expect((await store.list(TENANT)).items.map(({ id }) => id)).toEqual(old.slice(2).toReversed());
    expect(await redis.zrange(keys.shard(0).actionsDue, '0', '-1')).toEqual(old.slice(2).map((id) => `${TENANT}/${id}`));
  });

  it('counts in what its tenant has stored', async () => {
    const before = await measureTenant(ledger, TENANT);
    await create('retry', { q: 'x'.repeat(10_000) });
    expect(await measureTenant(ledger, TENANT)).toBeGreaterThan(before + 10_000);
  });

  it('publishes that it was made, its progress and its end', async () => {
    await failed(STEP + 1);
    const id = await create('retry');
    await runToEnd();
    const entries = await redis.xrange(keys.tenant(TENANT).events, '-', '+');
    const events = entries.map(([, fields]) => Object.fromEntries(fields.flatMap((name, at) => (at % 2 ? [] : [[name, fields[at + 1]]]))));
    const own = events.filter(({ event }) => event?.startsWith('action.'));
    expect(own.map(({ event, about }) => [event, JSON.parse(about ?? '')])).toMatchObject([
      ['action.created', { actionId: id, action: 'retry', status: 'pending', matched: STEP + 1, done: 0 }],
      ['action.progress', { actionId: id, status: 'running', done: STEP }],
      ['action.completed', { actionId: id, status: 'completed', done: STEP + 1 }],
    ]);
  });
});

/** How many tasks an action selects. It ends before this returns. */
const selected = async (filter: ActionRequest['filter']): Promise<number> => {
  const { matched } = (await createAction(ledger, { tenant: TENANT, action: 'cancel', filter, reason: null, by: null })).action;
  await runToEnd();
  return matched;
};

describe('a selection', () => {
  it('needs every property that it names', async () => {
    await submit({ session: 's/1', correlationId: 'c', context: { a: 1 } });
    await submit({ session: 's', correlationId: 'c', input: 'Other text' });
    expect(await selected({ session: 's', source: 'webhook' })).toBe(0);
    expect(await selected({ correlation: 'c', session: 's/1', q: 'other' })).toBe(0);
    expect(await selected({ correlation: 'c', q: 'OTHER text' })).toBe(1);
    expect(await selected({ correlation: 'c', session: 's/1', agent: 'echo', source: 'api' })).toBe(1);
    expect(await selected({})).toBe(0);
  });
});
