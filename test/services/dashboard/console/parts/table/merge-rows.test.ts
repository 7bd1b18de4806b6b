import { expect, test } from 'vitest';
import { mergeRows } from '../../../../../../services/dashboard/console/parts/table/merge-rows.ts';

interface Row {
  id: string;
  status: string;
}
const row = (id: string, status = 'running'): Row => ({ id, status });
const merge = (held: Row[], rows: Row[]): ReturnType<typeof mergeRows<Row>> => mergeRows(held, rows, ({ id }) => id);

test('held rows stay in their places with their newest contents, and rows above them are only counted', () => {
  const merged = merge([row('b'), row('a')], [row('d'), row('c'), row('b', 'completed'), row('a')]);
  expect(merged).toEqual({ rows: [row('b', 'completed'), row('a')], newCount: 2 });
});

test('a further page follows the held rows', () => {
  expect(merge([row('c'), row('b')], [row('c'), row('b'), row('a')])).toEqual({ rows: [row('c'), row('b'), row('a')], newCount: 0 });
});

test('a held row that is gone from the list stays as it was', () => {
  expect(merge([row('b'), row('a')], [row('a')]).rows).toEqual([row('b'), row('a')]);
});
