import { describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { LANE } from '#shared/queue/gates/lane.ts';
import { DONE, limitsOf, retry, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

const GPU = { name: 'gpu', limit: 1 };
const DISK = { name: 'disk', limit: 1 };
const session = (name: string): TaskWish => ({ lane: { name: `session:${name}`, limit: 1 } });

const granted = (): string[] => test.granted.map(({ task }) => task);
const details = async (id: string): Promise<string[]> => {
  const task = await readTask(test.ledger, TENANT, id);
  return task ? ((await LANE.place?.(test.ledger, task))?.gates ?? []).map(({ detail }) => detail) : [];
};

describe('a lane that tasks of several sessions share', () => {
  it('runs as many of them as its limit, whatever sessions they are of', async () => {
    const first = await test.claimed(await test.accepted({ ...session('a'), sharedLanes: [GPU] }));
    const second = await test.accepted({ ...session('b'), sharedLanes: [GPU] });
    const third = await test.accepted({ sharedLanes: [GPU] });
    expect(await test.statuses(second, third)).toEqual(['pending', 'pending']);
    await test.settle(first, DONE);
    expect(granted()).toEqual([second]);
    await test.completed(second);
    expect(granted()).toEqual([second, third]);
  });

  it('keeps the order of acceptance, also of one that waited for its session first', async () => {
    const holder = await test.claimed(await test.accepted(session('a')));
    const early = await test.accepted({ ...session('a'), sharedLanes: [GPU] });
    const running = await test.claimed(await test.accepted({ sharedLanes: [GPU] }));
    const late = await test.accepted({ sharedLanes: [GPU] });
    await test.settle(holder, DONE);
    expect(await test.statuses(early)).toEqual(['pending']);
    await test.settle(running, DONE);
    expect(granted()).toEqual([early]);
    await test.completed(early);
    expect(granted()).toEqual([early, late]);
  });

  it('goes on when a task waits for its retry, whether that yields its own lane or not', async () => {
    const held = await test.claimed(await test.accepted({ sharedLanes: [GPU] }));
    const next = await test.accepted({ sharedLanes: [GPU], yields: true });
    await test.settle(held, retry(60_000));
    expect(granted()).toEqual([next]);
    await test.makeDue(held.id);
    expect(await test.state(held.id)).toMatchObject({ gate: 'lane' });
    await test.settle(await test.claimed(next), retry(60_000));
    expect(granted()).toEqual([next, held.id]);
    await test.completed(held.id);
  });

  it('is left by a task that is cancelled while it waits or may run', async () => {
    const first = await test.accepted({ sharedLanes: [GPU] });
    const second = await test.accepted({ sharedLanes: [GPU] });
    const third = await test.accepted({ sharedLanes: [GPU] });
    await cancelTask(test.ledger, await test.place(second), 'no more');
    await cancelTask(test.ledger, await test.place(first), 'no more');
    expect(granted()).toEqual([third]);
  });

  it('waits with its tenant’s caps', async () => {
    test.limits = limitsOf({ running: 1 });
    const first = await test.claimed(await test.accepted({ sharedLanes: [GPU] }));
    const second = await test.accepted({ sharedLanes: [GPU] });
    await test.settle(first, DONE);
    expect(granted()).toEqual([second]);
  });
});

describe('a task of several shared lanes', () => {
  it('takes all of them in one step, and leaves one that has room to others until then', async () => {
    const gpu = await test.claimed(await test.accepted({ sharedLanes: [GPU] }));
    const both = await test.accepted({ sharedLanes: [GPU, DISK] });
    const crossed = await test.accepted({ sharedLanes: [DISK, GPU] });
    const first = await test.accepted({ sharedLanes: [DISK] });
    const second = await test.accepted({ sharedLanes: [DISK] });
    expect(await test.statuses(both, crossed, first, second)).toEqual(['pending', 'pending', 'queued', 'pending']);
    await test.completed(first);
    expect(granted()).toEqual([second]);
    await test.settle(gpu, DONE);
    expect(granted()).toEqual([second]);
    await test.completed(second);
    expect(granted()).toEqual([second, both]);
    await test.completed(both);
    await test.completed(crossed);
  });

  it('has all of them kept for it once others have passed it for long, so that two streams do not starve it', async () => {
    const next = async (lane: { name: string; limit: number }): Promise<string> => await test.accepted({ sharedLanes: [lane] });
    const streams = [await next(GPU), await next(DISK)];
    const both = await test.accepted({ sharedLanes: [GPU, DISK] });
    const pass = async (at: number, lane: { name: string; limit: number }): Promise<void> => {
      const waiting = await next(lane);
      await test.completed(streams[at] ?? '');
      streams[at] = waiting;
    };
    for (let round = 0; round < 5; round += 1) {
      await pass(0, GPU);
      await pass(1, DISK);
      expect(await test.statuses(both, ...streams)).toEqual(['pending', 'queued', 'queued']);
    }
    await test.setPassed(both, 1);
    await pass(0, GPU);
    expect(await test.statuses(both, ...streams)).toEqual(['pending', 'pending', 'queued']);
    await pass(1, DISK);
    expect(await test.statuses(both, ...streams)).toEqual(['queued', 'pending', 'pending']);
    for (const id of [both, ...streams]) await test.completed(id);
  });

  it('shows for whom a lane is kept, and only lanes that are closed, that where it stands first', async () => {
    test.limits = limitsOf({ running: 2 });
    const [gpu, disk] = [await test.claimed(await test.accepted({ sharedLanes: [GPU] })), await test.accepted({ sharedLanes: [DISK] })];
    const both = await test.accepted({ sharedLanes: [DISK, GPU] });
    expect(await details(both)).toEqual([
      `behind task ${disk} in lane "disk", 1 before it`,
      `behind task ${gpu.id} in lane "gpu", 1 before it`,
    ]);
    await test.settle(gpu, DONE);
    const other = await test.accepted({ sharedLanes: [] });
    await test.completed(disk);
    expect(await test.state(both)).toMatchObject({ granted: true });
    const next = await test.accepted({ sharedLanes: [GPU, DISK] });
    expect(await details(next)).toEqual([
      `behind task ${both} in lane "gpu", 1 before it`,
      `behind task ${both} in lane "disk", 1 before it`,
    ]);
    const last = await test.accepted({ sharedLanes: [DISK] });
    await test.completed(both);
    expect(await test.statuses(next, last)).toEqual(['queued', 'pending']);
    for (const id of [other, next, last]) await test.completed(id);
  });

  it('shows of a lane with room that it is kept for another task', async () => {
    const disk = await test.accepted({ sharedLanes: [DISK] });
    const both = await test.accepted({ sharedLanes: [GPU, DISK] });
    await test.setPassed(both, 1);
    const next = await test.accepted({ sharedLanes: [GPU] });
    expect(await details(next)).toEqual([`lane "gpu" is kept for task ${both}, which others passed for long`]);
    expect(await details(both)).toEqual([`behind task ${disk} in lane "disk", 1 before it`]);
    for (const id of [disk, both, next]) await test.completed(id);
  });

  it('shows for each lane whom it waits for', async () => {
    const holder = await test.claimed(await test.accepted({ ...session('a'), sharedLanes: [GPU] }));
    const next = await test.accepted({ ...session('a'), sharedLanes: [GPU, DISK] });
    const other = await test.accepted({ ...session('b'), sharedLanes: [GPU] });
    expect(await details(next)).toEqual([
      `behind task ${holder.id} in session "a", 1 before it`,
      `behind task ${holder.id} in lane "gpu", 1 before it`,
    ]);
    expect(await details(other)).toEqual([`behind task ${holder.id} in lane "gpu", 1 before it`]);
  });
});
