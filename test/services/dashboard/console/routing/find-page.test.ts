import { expect, test } from 'vitest';
import { CONSOLE_PAGES } from '../../../../../services/dashboard/console-pages.ts';
import { findPage } from '../../../../../services/dashboard/console/routing/find-page.ts';
import { sessionPath } from '../../../../../services/dashboard/console/routing/paths.ts';

test.each(['telegram:12/3', 'ä b', '100%', '?#'])('a session named %s has an address that leads back to it', (session) => {
  expect(findPage(sessionPath(session))).toMatchObject({ page: { name: 'session' }, params: { id: session } });
});

test.each(['/elsewhere', '/sessions//', '/sessions/a/b', '/sessions/%E0%A4%A'])('%s shows nothing', (path) => {
  expect(findPage(path)).toBeNull();
});

test('each page is found at its own address, also with a slash at the end', () => {
  for (const { name, path } of CONSOLE_PAGES) {
    const address = path.replace(':id', 'x');
    expect(findPage(address)?.page.name).toBe(name);
    expect(findPage(path === '/' ? path : `${address}/`)?.page.name).toBe(name);
  }
});
