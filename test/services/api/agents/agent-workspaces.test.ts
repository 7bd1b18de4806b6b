import { expect, it } from 'vitest';
import { useApi } from '../support/use-api.ts';

const workspaces = {
  checkout: { git: 'https://bot:secret@git.example.com/shop.git?token=secret', ref: 'main' },
  ssh: { git: 'git@git.example.com:shop.git' },
  mirror: { git: '/srv/secret/shop.git' },
  file: { git: 'file:///srv/secret/shop.git', ref: 'main' },
  copied: { path: '/srv/secret' },
  empty: { keep: true as const },
};
const agents = Object.entries(workspaces).flatMap(([name, workspace]) => [
  [name, { kind: 'command', command: ['true'], workspace }] as const,
  [`${name}-there`, { kind: 'daemon', workspace }] as const,
]);
const api = await useApi({ agents: { ...Object.fromEntries(agents), none: { kind: 'daemon' } } });

const read = async (id: string): Promise<unknown> => (await api.call('GET', `/v1/agents/${id}`)).body.workspace;

it.each([
  ['checkout', { git: 'https://git.example.com/shop.git', ref: 'main' }],
  ['ssh', { git: 'git@git.example.com:shop.git' }],
  ['mirror', {}],
  ['file', {}],
  ['copied', {}],
  ['empty', { keep: true }],
])('a workspace that begins as %s is shown without logins and folders of machines', async (name, shown) => {
  expect(await read(name)).toEqual(shown);
  expect(await read(`${name}-there`)).toEqual(shown);
});

it('an agent without a workspace has none', async () => {
  expect(await read('none')).toBeUndefined();
});

it.each([
  ['a line break in its repository', { git: 'git@git.example.com:shop\n.git' }],
  ['a NUL in its repository', { git: 'git@git.example.com:shop\0.git' }],
  ['a NUL in its ref', { git: 'https://git.example.com/shop.git', ref: 'main\0' }],
  ['an option as repository', { git: '--upload-pack=x' }],
  ['an option as ref', { git: 'https://git.example.com/shop.git', ref: '--upload-pack=x' }],
  ['a folder as repository', { git: '/srv/shop.git' }],
  ['a file as repository', { git: 'file:///srv/shop.git' }],
  ['a folder', { path: '/srv' }],
])('by API there is no workspace with %s', async (_what, workspace) => {
  const { status, body } = await api.call('PUT', '/v1/agents/refused', { body: { kind: 'daemon', workspace } });
  expect([status, body.code]).toEqual([422, 'request.invalid']);
});
