import { describe, expect, it } from 'vitest';
import { newTaskId, TASK_ID } from '#shared/tasks/task-id.ts';

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
