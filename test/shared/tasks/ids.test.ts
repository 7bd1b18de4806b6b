import { decodeTime } from 'ulid';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { newTaskId, TASK_ID, taskIdFor } from '#shared/tasks/ids.ts';
import { childTraceparent, traceIdOf } from '#shared/log/traces/traceparent.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the id of a task', () => {
  it('names its time, and goes on from the last one where the clock goes back', () => {
    const now = Date.now() + 60_000;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
    const first = newTaskId();
    clock.mockReturnValue(now - 5000);
    const second = newTaskId();
    clock.mockReturnValue(now + 1);
    expect([first, second, newTaskId()].map((id) => decodeTime(id))).toEqual([now, now, now + 1]);
    expect(second > first).toBe(true);
  });

  it('made of a name is the same each time, names its time, and sorts by its place', () => {
    const ms = Date.now();
    const ids = [0, 1, 1024, 5000].map((place) => taskIdFor('acme/parent/3', { ms, place }));
    expect(ids).toEqual([0, 1, 1024, 5000].map((place) => taskIdFor('acme/parent/3', { ms, place })));
    expect(ids.map((id) => [TASK_ID.test(id), decodeTime(id)])).toEqual(ids.map(() => [true, ms]));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set([...ids, taskIdFor('acme/parent/4', { ms, place: 0 })]).size).toBe(5);
  });

  it('is another one however many are made in one millisecond: the next ones name the next millisecond', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    const first = newTaskId();
    const time = first.slice(0, 10);
    let [last, made, isSorted] = [first, 1, true];
    // As many as the digits that count tell apart, at most.
    while (last.startsWith(time) && made < 2 ** 20 + 10) {
      const id = newTaskId();
      isSorted &&= id > last;
      last = id;
      made += 1;
    }
    expect(isSorted).toBe(true);
    expect(last).toMatch(TASK_ID);
    expect(decodeTime(last)).toBe(Date.now() + 1);
  });

  it('sorts by when it was made, also within one millisecond', () => {
    const ids = Array.from({ length: 5000 }, () => newTaskId());
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has the form that an id can have', () => {
    expect(Array.from({ length: 100 }, () => newTaskId()).every((id) => TASK_ID.test(id))).toBe(true);
  });

  it.each([
    '',
    '01ARZ3NDEKTSV4RRFFQ69G5FA',
    '01ARZ3NDEKTSV4RRFFQ69G5FAVX',
    '01ARZ3NDEKTSV4RRFFQ69G5FAI',
    '01arz3ndektsv4rrffq69g5fav',
    '../../../../etc/passwd/aaaa',
  ])('is never "%s"', (text) => {
    expect(TASK_ID.test(text)).toBe(false);
  });
});

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';

describe('the trace context of a task', () => {
  it('stays in the trace of the caller, with its flags and a span of its own', () => {
    const child = childTraceparent(PARENT);
    expect(traceIdOf(child)).toBe(traceIdOf(PARENT));
    expect(child).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(child).not.toBe(PARENT);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    PARENT.toUpperCase(),
    `${PARENT}\n`,
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
  ])('is a new sampled trace when the caller sent %s', (parent) => {
    const child = childTraceparent(parent);
    expect(child).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(traceIdOf(child)).not.toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(traceIdOf(child)).not.toBe('0'.repeat(32));
  });

  it('is a new one each time', () => {
    expect(traceIdOf(childTraceparent())).not.toBe(traceIdOf(childTraceparent()));
  });

  it('has no id when it is none', () => {
    expect(traceIdOf('nonsense')).toBe('');
  });
});
