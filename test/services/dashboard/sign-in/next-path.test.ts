import { expect, test } from 'vitest';
import { nextPath } from '../../../../services/dashboard/sign-in/sign-in.ts';

test.each(['/', '/board', '/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV?tenant=acme', '/board/queue/a%20b'])('%s of this site is kept', (path) => {
  expect(nextPath(path)).toBe(path);
});

test.each([
  'https://elsewhere.example/',
  '//elsewhere.example',
  '/\\elsewhere.example',
  '/\t/elsewhere.example',
  '/.//elsewhere.example',
  '/a/..//elsewhere.example',
  'javascript:alert(1)',
  'board',
  '',
  undefined,
  ['/board'],
])('%j leads to the start page', (path) => {
  expect(nextPath(path)).toBe('/');
});
