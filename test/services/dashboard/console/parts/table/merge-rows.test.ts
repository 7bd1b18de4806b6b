import { expect, test } from 'vitest';
import { mergeRows } from '../../../../../../services/dashboard/console/parts/table/merge-rows.ts';

interface Row {
  id: string;
  status: string;
}
const row = (id: string, status = 'running'): Row => ({ id, status });
const rowsOf = (ids: string): Row[] => ids.split('').map((id) => row(id));
const merge = (held: Row[], rows: Row[], isComplete = false): ReturnType<typeof mergeRows<Row>> =>
  mergeRows(held, rows, { rowId: ({ id }) => id, isComplete });
/** The ids that are shown, and how many new ones are only counted. */
const mergeIds = (held: string, rows: string, isComplete = false): [ids: string, newCount: number] => {
  const merged = merge(rowsOf(held), rowsOf(rows), isComplete);
  return [merged.rows.map(({ id }) => id).join(''), merged.newCount];
};

test('held rows stay in their places with their newest contents, and rows above them are only counted', () => {
  const merged = merge([row('b'), row('a')], [row('d'), row('c'), row('b', 'completed'), row('a')]);
  expect(merged).toEqual({ rows: [row('b', 'completed'), row('a')], newCount: 2 });
});

test('a further page follows the held rows', () => {
  expect(mergeIds('cb', 'cba')).toEqual(['cba', 0]);
});

test('the first rows of an empty table are shown at once', () => {
  expect(mergeIds('', 'ba')).toEqual(['ba', 0]);
});

test('a held row that was removed leaves, wherever it stood', () => {
  expect(mergeIds('cba', 'ba')).toEqual(['ba', 0]);
  expect(mergeIds('cba', 'ca')).toEqual(['ca', 0]);
  expect(mergeIds('cba', 'cb')).toEqual(['cb', 0]);
  expect(mergeIds('a', '')).toEqual(['', 0]);
});

test('held rows at the end stay when as many new ones pushed them off the page', () => {
  expect(mergeIds('dcba', 'fedc')).toEqual(['dcba', 2]);
  expect(mergeIds('ba', 'dc')).toEqual(['ba', 2]);
});

test('nothing is pushed off a page that goes on behind the held rows', () => {
  expect(mergeIds('cba', 'dcz')).toEqual(['cz', 1]);
});

test('a row that was removed from the middle leaves although new rows came', () => {
  expect(mergeIds('dcba', 'fedb')).toEqual(['dba', 2]);
});

test('a row that moved to the top keeps its place, and so do those that were pushed off behind the others', () => {
  expect(mergeIds('cba', 'dac')).toEqual(['cba', 1]);
});

test('nothing is pushed off a list without a further page, so that its rows leave although new ones came', () => {
  expect(mergeIds('cba', 'edc', true)).toEqual(['c', 2]);
  expect(mergeIds('ba', 'dc', true)).toEqual(['dc', 0]);
});
