import { expect, test } from 'vitest';
import { pageOfPath, sessionPath } from '../../../../../services/dashboard/console/routing/page-of-path.ts';

test.each(['telegram:12/3', 'ä b', '100%', '?#'])('a session named %s has an address that leads back to it', (session) => {
  expect(pageOfPath(sessionPath(session))).toEqual({ name: 'chat', session });
});

test.each(['/elsewhere', '/sessions/', '/sessions/a/b', '/sessions/%E0%A4%A'])('%s shows nothing', (path) => {
  expect(pageOfPath(path)).toEqual({ name: 'unknown' });
});

test('the pages have their addresses', () => {
  expect(['/', '/chat', '/schedules'].map((path) => pageOfPath(path).name)).toEqual(['overview', 'chat', 'schedules']);
});
