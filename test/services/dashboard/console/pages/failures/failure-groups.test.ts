import { expect, test } from 'vitest';
import { mergeGroups } from '../../../../../../services/dashboard/console/pages/failures/failure-groups.ts';

type Group = ReturnType<typeof mergeGroups>[number];

function group(code: string, count: number, day: number): Group {
  const example = { taskId: `${code}${day}`, message: 'x' };
  return {
    code,
    agent: 'echo',
    release: null,
    count,
    firstAt: `2026-05-0${day}T00:00:00.000Z`,
    lastAt: `2026-05-0${day}T12:00:00.000Z`,
    example,
  };
}

test('a group that goes on in older tasks is one, and the largest is first', () => {
  expect(mergeGroups([[group('A', 3, 4), group('B', 2, 4)], [group('B', 5, 2)]])).toEqual([
    { ...group('B', 7, 4), firstAt: '2026-05-02T00:00:00.000Z' },
    group('A', 3, 4),
  ]);
});
