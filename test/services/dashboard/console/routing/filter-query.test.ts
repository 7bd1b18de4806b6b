import { expect, test } from 'vitest';
import { filterQuery, readFilters } from '../../../../../services/dashboard/console/routing/filter-query.ts';

const SPEC = { q: 'text', status: 'list', active: 'flag' } as const;

test('a query written by hand is read, and written as the API reads it', () => {
  const values = readFilters(SPEC, '?status=failed,timeout&status=stale&q=a%20b&active=true&unknown=1');
  expect(values).toEqual({ q: 'a b', status: ['failed', 'timeout', 'stale'], active: true });
  expect(new URLSearchParams(filterQuery(SPEC, values)).get('status')).toBe('failed,timeout,stale');
  expect(readFilters(SPEC, filterQuery(SPEC, values))).toEqual(values);
});

test('filters that are not set are not in the query', () => {
  expect(filterQuery(SPEC, readFilters(SPEC, '?q=&status=&active=false'))).toBe('');
});
