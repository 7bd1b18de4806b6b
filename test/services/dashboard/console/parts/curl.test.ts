import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlOf } from '../../../../../services/dashboard/console/parts/curl.ts';

test('a command for a shell passes each character of the path and the body', () => {
  const body = { input: 'It\'s "quoted" $HOME `x` \\' };
  const command = curlOf({ method: 'POST', path: '/v1/tasks?q=$HOME', body });
  const env = { MUSTER_URL: 'http://x', MUSTER_API_KEY: 'k' };
  const words = execFileSync('sh', ['-c', command.replace(/^curl/, String.raw`printf '%s\0'`)], { env, encoding: 'utf8' }).split('\0');
  expect(words).toContain('http://x/v1/tasks?q=$HOME');
  expect(words).toContain('Authorization: Bearer k');
  expect(words).toContain(JSON.stringify(body));
});
