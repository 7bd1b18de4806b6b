import { describe, expect, it } from 'vitest';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readEntry } from '#shared/ledger/journal/read-journal.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { redisNow } from '#shared/redis/replies.ts';
import { lineOf } from '#shared/waits/events/event-line.ts';
import { keepEvent, readEvent, type RunEvent } from '#shared/waits/events/kept-events.ts';
import { resumeSending, sendEvent } from '#shared/waits/events/send-event.ts';
import { seeToWait } from '#shared/waits/see-to-wait.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const MAX_KEPT = 3;
const parts = await useEmptyParts({ events: { keepMs: 60_000, maxKept: MAX_KEPT, maxBytes: 1000 } });
const { ledger } = parts;
const tenant = 'default';

/** A run that waits for the event, seen to or not. */
async function waiting(name: string, match: Record<string, unknown> = {}, isSeenTo = true): Promise<string> {
  const { id } = await acceptTask(parts, { tenant, agent: 'echo', input: 'x' });
  await wait(id, { name, match, isSeenTo });
  return id;
}

async function wait(
  id: string,
  { name, match = {}, isSeenTo = true }: { name: string; match?: object; isSeenTo?: boolean },
): Promise<void> {
  const claim = await claimTask(ledger, { tenant, id, lane: null }, 'w1');
  if (claim.kind !== 'claimed') throw new Error(`The task was not claimed: ${claim.kind}`);
  const { token } = claim.state;
  const entry = { seq: token + 1, kind: 'event', name, status: 'waiting', attempt: 1, startedAt: Date.now() } as const;
  const hold = { gate: 'event', what: lineOf(name, { ...match }) } as const;
  const suspension = { hold, entry: { ...entry, wait: JSON.stringify({ match }) }, until: null, holdLaneMs: 0 };
  await settleAttempt(ledger, { tenant, id, lane: null, token }, { kind: 'suspended', reason: 'it waits', wait: suspension });
  if (isSeenTo) await seeToWait(parts, { tenant, id, entry: entry.seq });
}

const stateOf = async (id: string): Promise<TaskState | undefined> => (await readTask(ledger, tenant, id))?.state;
const isSuspended = async (id: string): Promise<boolean> => (await stateOf(id))?.status === 'suspended';
const got = async (id: string, seq = 2): Promise<unknown> => JSON.parse((await readEntry(ledger, { tenant, id }, seq))?.value ?? 'null');
let count = 0;
const eventOf = (name: string, more: Partial<RunEvent> = {}): RunEvent => ({
  id: `event/${(count += 1)}`,
  name,
  data: null,
  deliver: 'all',
  ...more,
});
const send = async (event: RunEvent): Promise<number> => (await sendEvent(ledger, tenant, event)).resumed;

describe('an event', () => {
  it('resumes the runs that it fits, and no other', async () => {
    const ids = [await waiting('a'), await waiting('a', { n: 1 }), await waiting('a', { n: 1, m: [2] })];
    const others = [await waiting('a', { n: 2 }), await waiting('a', { k: 1 }), await waiting('a.b'), await waiting('A')];
    const event = eventOf('a', { data: { n: 1, m: [2] } });
    expect(await send(event)).toBe(3);
    for (const id of ids) {
      expect(await stateOf(id)).toMatchObject({ status: 'queued' });
      expect(await got(id)).toEqual({ name: 'a', data: event.data, id: event.id });
    }
    for (const id of others) expect(await isSuspended(id)).toBe(true);
  });

  it('is sent once under its id, with the data that came first', async () => {
    const [id] = [await waiting('twice')];
    const event = eventOf('twice', { data: 1 });
    const answers = await Promise.all([send(event), send({ ...event, data: 2 }), send(event)]);
    expect(answers).toEqual([1, 1, 1]);
    expect(await got(id)).toMatchObject({ data: 1 });
    const later = await waiting('twice', {}, false);
    expect(await send(event)).toBe(1);
    expect(await isSuspended(later)).toBe(true);
  });

  it('comes to a run that begins to wait later, once, the oldest first', async () => {
    const [first, second] = [eventOf('later', { data: { n: 1 } }), eventOf('later', { data: { n: 1 } })];
    await send(first);
    await send(second);
    const id = await waiting('later', { n: 1 });
    expect(await got(id)).toMatchObject({ id: first.id });
    await wait(id, { name: 'later' });
    expect(await got(id, 3)).toMatchObject({ id: second.id });
    await wait(id, { name: 'later' });
    expect(await isSuspended(id)).toBe(true);
    expect(await got(await waiting('later'))).toMatchObject({ id: first.id });
  });

  it('goes to one run where it is for one: the first by priority and age, or the first that begins to wait', async () => {
    const ids = [await waiting('one'), await waiting('one', { n: 1 })];
    const events = [1, 2, 3].map(() => eventOf('one', { data: { n: 1 }, deliver: 'one' }));
    expect(await send(events[0] as RunEvent)).toBe(1);
    expect(await Promise.all(ids.map(isSuspended))).toEqual([false, true]);
    expect(await Promise.all(events.slice(1).map(send))).toEqual(expect.arrayContaining([0, 1]));
    expect(await isSuspended(ids[1] ?? '')).toBe(false);
    expect(await isSuspended(await waiting('one'))).toBe(false);
    expect(await isSuspended(await waiting('one'))).toBe(true);
  });

  it('comes to all when its process died on the way, or the one that began to wait did', async () => {
    const ids = [await waiting('cut'), await waiting('cut')];
    const event = eventOf('cut');
    await keepEvent(ledger, tenant, event);
    const now = (await redisNow(ledger.redis)) + 1;
    expect(await resumeSending(ledger, ledger.keys.shardOf(tenant), { before: now, now })).toBe(event.id);
    expect(await resumeSending(ledger, ledger.keys.shardOf(tenant), { before: now, now })).toBeNull();
    expect(await Promise.all(ids.map(isSuspended))).toEqual([false, false]);
    expect(await send(event)).toBe(2);
    const unseen = await waiting('cut', {}, false);
    expect(await isSuspended(unseen)).toBe(true);
    await seeToWait(parts, { tenant, id: unseen, entry: 2 });
    await seeToWait(parts, { tenant, id: unseen, entry: 2 });
    expect(await isSuspended(unseen)).toBe(false);
  });

  it('makes room for newer ones', async () => {
    const events = Array.from({ length: MAX_KEPT + 2 }, () => eventOf('many'));
    for (const event of events) await send(event);
    const kept = await Promise.all(events.map(async ({ id }) => (await readEvent(ledger, tenant, id)) !== null));
    expect(kept).toEqual([false, false, true, true, true]);
    expect(await got(await waiting('many'))).toMatchObject({ id: events[2]?.id });
  });

  it('is refused when it is too large', async () => {
    await expect(send(eventOf('large', { data: 'x'.repeat(1000) }))).rejects.toMatchObject({ code: 'request.too-large' });
  });
});
