import { describe, expect, it } from 'vitest';
import { cancelTask, changePriority } from '#shared/ledger/change-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { removeTask } from '#shared/ledger/ended-tasks.ts';
import { scriptJson } from '#shared/redis/script.ts';
import { DONE, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

/** An emoji that was cut in two, as texts are that somebody shortened. */
const HALF = 'cut \ud83d';
const LANE = { name: 'session:s', limit: 1 };

const test = await useCheckedLedger({ routing: { queue: { collect: { cap: 1, overflow: 'summarize' } } } });

function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

describe('a note of the timeline', () => {
  it('ends between two characters', async () => {
    const id = await test.accepted();
    await cancelTask(test.ledger, await test.place(id), `x${'é'.repeat(150)}`);
    const { log } = await test.state(id);
    expect(log).toMatch(/ xé+$/);
    expect(log).not.toContain('\uFFFD');
  });
});

describe.each<[what: string, wish: TaskWish]>([
  ['half a character', { input: HALF, user: HALF, correlationId: HALF, context: { text: HALF } }],
  ['a context that is deeper than Redis reads', { context: nested(1500) }],
])('a task that brought %s', (_what, wish) => {
  it('is cancelled and gets another priority like any other', async () => {
    const ids = [await test.accepted({ ...wish, lane: LANE }), await test.accepted({ ...wish, lane: LANE })] as const;
    for (const id of ids)
      expect((await changePriority(test.ledger, TENANT, id, { priority: 8, queue: 'tasks', class: 'u1' })).kind).toBe('changed');
    for (const id of ids) expect(await cancelTask(test.ledger, await test.place(id), HALF)).toEqual({ kind: 'cancelled', open: null });
  });

  it('goes back in line when its worker is gone', async () => {
    const held = await test.claimed(await test.accepted(wish));
    await test.endLease(held);
    expect(await expireLease(test.ledger, held)).toBe('requeued');
    await test.makeDue(held.id);
    await test.completed(held.id);
  });

  it('meets others in its lane by its mode, and ends by it', async () => {
    const first = await test.claimed(await test.accepted({ ...wish, lane: LANE }));
    const waits = await test.accepted({ ...wish, lane: LANE });
    const newest = await test.accepted({ ...wish, lane: LANE, mode: 'interrupt' });
    expect(await test.statuses(waits)).toEqual(['cancelled']);
    await test.settle(first, { kind: 'cancelled', reason: HALF });
    expect(await test.statuses(first.id, newest)).toEqual(['cancelled', 'queued']);
  });

  it('is removed completely', async () => {
    const id = await test.accepted(wish);
    await test.completed(id);
    expect(await removeTask(test.ledger, await test.read(id))).toBe(true);
    expect(await test.redis.zrange(test.keys.tenant(TENANT).index, '0', '-1')).toEqual([]);
  });
});

describe('half a character', () => {
  it('in what an attempt failed by does not keep the next from starting', async () => {
    const held = await test.claimed(await test.accepted());
    const error = { code: 'NETWORK_ERROR', message: HALF, retryable: true };
    await test.settle(held, { kind: 'failed', error, delayMs: 0, usage: null });
    await test.settle(await test.claimed(held.id), { kind: 'interrupted', reason: HALF, delayMs: 0 });
    await test.settle(await test.claimed(held.id), DONE);
    expect((await test.read(held.id)).state.status).toBe('completed');
  });

  it('is noted of a message that was left out', async () => {
    const collected = { lane: LANE, mode: 'collect', input: HALF } as const;
    await test.claimed(await test.accepted({ lane: LANE }));
    await test.accepted(collected);
    const newest = await test.accepted(collected);
    expect((await test.state(newest)).leftOut).toEqual(['cut \ufffd']);
  });

  it('is not decoded for the note of a long message, nor is anything behind the beginning of its input', async () => {
    const input = `","id":" ,"input":"${'\n"é\\'.repeat(100)}`;
    const collected = { lane: LANE, mode: 'collect', context: nested(1500) } as const;
    await test.claimed(await test.accepted({ lane: LANE }));
    await test.accepted({ ...collected, input });
    const newest = await test.accepted({ ...collected, input: HALF });
    const [note = ''] = (await test.state(newest)).leftOut ?? [];
    expect(note).toMatch(/\.\.\.$/);
    expect(input.startsWith(note.slice(0, -3))).toBe(true);
    expect(Buffer.byteLength(note)).toBeGreaterThan(160);
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(163);
  });

  it('becomes the replacement character, and nothing else changes', () => {
    const texts = [HALF, '\udc00 at the start', String.raw`a path\ud83d`, `\\${HALF}`, 'complete 😀'];
    expect(JSON.parse(scriptJson(texts))).toEqual(texts.map((text) => text.toWellFormed()));
  });
});
