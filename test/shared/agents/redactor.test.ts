import { expect, it } from 'vitest';
import { createRedactor, secretValues } from '#shared/agents/redactor.ts';

const redact = createRedactor(['a-known-secret']);

it.each([
  ['a-known-secret in a text', '[hidden] in a text'],
  ['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [hidden]'],
  ['authorization: basic dXNlcjpwYXNz', 'authorization: basic [hidden]'],
  ['redis://:pass%20word@host:6379/0', 'redis://[hidden]@host:6379/0'],
  ['sk-proj-abcdefghijklmnop and mk_abcdefghijklmnop', '[hidden] and [hidden]'],
  ['github_pat_11ABCDEFG0abcdefghijkl', '[hidden]'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXRleHQ', '[hidden]'],
  ['{"authorization":"Bearer abcdefghijkl"}', '{"authorization":"Bearer [hidden]"}'],
])('%j becomes %j', (text, shown) => expect(redact(text)).toBe(shown));

it.each(['at run (file:///app/agents/task.ts:12:7)', 'a bearer of news', 'https://example.com/a@b', 'task-runner-is-a-long-name'])(
  '%j stays',
  (text) => expect(redact(text)).toBe(text),
);

it('of variables, those with the name of a secret are secret', () => {
  expect(secretValues({ API_KEY: 'one', GH_TOKEN: 'two', HOME: '/srv/a-user', DB_PASSWORD: undefined })).toEqual(['one', 'two']);
});
