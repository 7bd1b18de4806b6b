import { describe, expect, it } from 'vitest';
import { breachSla, listPassedSlas } from '#shared/ledger/grants/breach-sla.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { removeTask } from '#shared/ledger/ended-tasks.ts';
import { parseTimeline, taskRecord } from '#shared/tasks/task-record.ts';
import { DONE, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const { slas } = test.keys.shard(0);
const HOUR_MS = 3_600_000;

const accept = async (inMs: number): Promise<string> => await test.accepted({ sla: Date.now() + inMs });
const breach = async (id: string): Promise<string | undefined> => (await breachSla(test.ledger, { tenant: TENANT, id }))?.status;
const isBreached = async (id: string): Promise<unknown> => taskRecord(await test.read(id))['slaBreached'];

/** Lets the sla pass as if the task had been accepted long ago. */
async function pass(id: string, sla = Date.now() - 1): Promise<void> {
  await test.redis.zadd(slas, sla, `${TENANT}/${id}`);
}

describe('an sla that passes', () => {
  it('of a task that waits or runs is a breach, once, in its record, its timeline and the events', async () => {
    const id = await accept(-1);
    expect(await isBreached(id)).toBe(false);
    const answers = await Promise.all(Array.from({ length: 6 }, () => breach(id)));
    expect(answers.filter((status) => status === 'queued')).toHaveLength(1);
    expect(await isBreached(id)).toBe(true);
    expect(parseTimeline((await test.state(id)).log).at(-1)).toMatchObject({ status: 'queued', note: 'its sla passed' });
    const held = await test.claimed(id);
    await test.settle(held, DONE);
    expect(await isBreached(id)).toBe(true);
    expect((await test.events(id)).filter((event) => event === 'task.sla_breached')).toHaveLength(1);
  });

  it('does not disturb the end of an attempt that runs meanwhile', async () => {
    const id = await accept(HOUR_MS);
    const held = await test.claimed(id);
    await pass(id);
    expect(await breach(id)).toBe('running');
    expect(await test.settle(held, DONE)).toBe('completed');
  });

  it('of a task that ended too late is a breach too', async () => {
    const id = await accept(-1);
    await test.completed(id);
    expect(await breach(id)).toBe('completed');
    expect(await isBreached(id)).toBe(true);
    expect(parseTimeline((await test.state(id)).log).at(-1)).toMatchObject({ status: 'completed', note: 'its sla passed' });
  });

  it('is none of a task that had ended by then, nor before its time', async () => {
    const id = await accept(HOUR_MS);
    expect(await breach(id)).toBeUndefined();
    await test.completed(id);
    const { completedAt = 0 } = await test.state(id);
    await pass(id, completedAt);
    expect(await breach(id)).toBeUndefined();
    expect(await isBreached(id)).toBe(false);
    expect(await test.redis.exists(slas)).toBe(0);
    expect(await test.events(id)).not.toContain('task.sla_breached');
  });
});

describe('the tasks with an sla', () => {
  it('are listed once it has passed, the earliest first', async () => {
    const [second, first] = [await accept(-1000), await accept(-2000)];
    await accept(HOUR_MS);
    const listed = await listPassedSlas(test.ledger, 0, Date.now(), 10);
    expect(listed).toEqual([first, second].map((id) => ({ tenant: TENANT, id })));
  });

  it('are forgotten with their records', async () => {
    const id = await accept(HOUR_MS);
    await cancelTask(test.ledger, await test.place(id), 'no');
    expect(await test.redis.zcard(slas)).toBe(1);
    await removeTask(test.ledger, await test.read(id));
    expect(await test.redis.exists(slas)).toBe(0);
  });

  it('are none without one', async () => {
    const id = await test.accepted();
    expect(await isBreached(id)).toBeNull();
    expect(await test.redis.exists(slas)).toBe(0);
  });
});
