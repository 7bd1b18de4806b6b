import { describe, expect, it } from 'vitest';
import { childTraceparent, newTaskId, TASK_ID, traceIdOf } from '#shared/tasks/ids.ts';

describe('the id of a task', () => {
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
