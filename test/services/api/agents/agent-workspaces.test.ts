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
