import { expect, it } from 'vitest';
import { AgentCaps } from '#shared/agents/agent-caps.ts';
import { AgentCatalog } from '#shared/agents/agent-catalog.ts';
import { readCallbackSecrets } from '#shared/deliveries/callbacks/callback-secrets.ts';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { countSecrets, sealSecrets } from '#shared/tenants/sealing/tenant-secrets.ts';
import { HookStore } from '../../../../services/webhooks/hook-store.ts';
import { hookSchema } from '../../../../services/webhooks/hook.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const parts = await useEmptyParts();
const { redis, keys, ledger, settings, log } = parts;
const own = keys.tenant('default');

const [ONE, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const [clear, seal, rotated] = [new Seal(), new Seal({ key: ONE }), new Seal({ key: OTHER, previous: ONE })];

const NOW = '2026-01-01T00:00:00.000Z';
const HOOK = hookSchema.parse({
  id: '01JD0000000000000000000000',
  tenant: 'default',
  name: null,
  provider: 'github',
  secret: 'patience',
  options: null,
  agent: 'echo',
  template: null,
  session: null,
  priority: null,
  enabled: true,
  formerSecrets: [{ secret: 'patience-before', endsAtMs: 1 }],
  createdAt: NOW,
  updatedAt: NOW,
});
const AGENT = { kind: 'http', url: 'https://a.example', secret: 'patience', headers: { 'x-key': 'patience' }, maxRunning: 2 } as const;

const hooksBy = (by: Seal): HookStore => new HookStore({ redis, keys, seal: by, maxHooksPerTenant: 10 });

function catalogBy(by: Seal): AgentCatalog {
  return new AgentCatalog({ redis, keys, settings, seal: by, caps: new AgentCaps({ redis, keys, log, seal: by }) });
}

/** Stores one record of each kind as a process with this key does. */
async function store(by: Seal): Promise<void> {
  await hooksBy(by).create(HOOK);
  await catalogBy(by).put('default', 'behind', AGENT);
  await readCallbackSecrets({ ...ledger, seal: by }, 'default', 0);
}

async function stored(): Promise<string> {
  return JSON.stringify([await redis.hgetall(own.hooks), await redis.hgetall(own.agents), await redis.get(own.callbackSecret)]);
}

/** What a process with this key reads. */
async function read(by: Seal): Promise<unknown[]> {
  const hook = await hooksBy(by).find('default', HOOK.id);
  const agent = await catalogBy(by).find('default', 'behind');
  const { secret } = await readCallbackSecrets({ ...ledger, seal: by }, 'default', 0);
  return [hook?.secret, hook?.formerSecrets, agent?.definition, secret.startsWith('whsec_')];
}

const AS_WRITTEN = ['patience', HOOK.formerSecrets, AGENT, true];

it('with a key the secrets of hooks, callbacks and agents are stored sealed', async () => {
  await store(seal);
  const text = await stored();
  expect(text).not.toMatch(/patience|whsec_/);
  expect(text).toContain('https://a.example');
  expect(await read(seal)).toEqual(AS_WRITTEN);
  await expect(hooksBy(clear).find('default', HOOK.id)).rejects.toMatchObject({ code: 'seal.key-lost' });
  await expect(catalogBy(clear).find('default', 'behind')).rejects.toMatchObject({ code: 'seal.key-lost' });
  const { unreadable } = await hooksBy(clear).list('default', { limit: 10, cursor: null });
  expect(unreadable).toMatchObject([{ id: HOOK.id, reason: expect.stringContaining('MUSTER_SEAL_KEY') }]);
});

it.each([
  ['in clear', clear],
  ['sealed with the key before', seal],
])('secrets that are %s are sealed with the key of now, once', async (_, by) => {
  await store(by);
  expect([...(await countSecrets({ redis, keys }, 'default', 100))]).toEqual([[by.keyId, 5]]);
  expect(await sealSecrets({ redis, keys, seal: rotated }, 'default')).toBe(3);
  expect([...(await countSecrets({ redis, keys }, 'default', 100))]).toEqual([[rotated.keyId, 5]]);
  expect(await read(new Seal({ key: OTHER }))).toEqual(AS_WRITTEN);
  expect(await sealSecrets({ redis, keys, seal: rotated }, 'default')).toBe(0);
});

it('secrets that cannot be opened stay as they are, and without a key all do', async () => {
  await store(seal);
  const before = await stored();
  expect(await sealSecrets({ redis, keys, seal: new Seal({ key: OTHER }) }, 'default')).toBe(0);
  expect(await sealSecrets({ redis, keys, seal: clear }, 'default')).toBe(0);
  expect(await stored()).toBe(before);
});
