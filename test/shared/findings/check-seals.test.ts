import { expect, it } from 'vitest';
import { beatProcess } from '#shared/queue/registry/process-registry.ts';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { sealRecord } from '#shared/tenants/sealing/sealed-records.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { checkRows } from './check-rows.ts';

const { redis, keys, queues, config } = await useEmptyParts();
const seal = new Seal({ key: Buffer.alloc(32, 1) });
const fleetWith = (by: Seal): Parameters<typeof checkRows>[0] => ({ redis, keys, queues, settings: config.settings, seal: by });

const rows = async (by: Seal): Promise<string[]> => await checkRows(fleetWith(by), 'Sealing', 'Secrets');
const keep = async (by: Seal, id: string): Promise<unknown> =>
  await redis.hset(keys.tenant('default').hooks, id, sealRecord(by, { kind: 'hooks', tenant: 'default', id }, { id, secret: 'shh' }));

it('without a key says that all is in clear', async () => {
  await keep(new Seal(), 'a');
  const [sealing, secrets] = await rows(new Seal());
  expect(sealing).toMatch(/^ok Sealing: no MUSTER_SEAL_KEY: what steps gave, checkpoints, and the secrets .* are in clear in Redis$/);
  expect(secrets).toBe('ok Secrets: of hooks, callbacks and agents: 1 in clear');
});

it('with a key says which one seals what, what is in clear all the same, and which secrets still are', async () => {
  await keep(new Seal(), 'a');
  await keep(seal, 'b');
  const [sealing, secrets] = await rows(seal);
  expect(sealing).toContain(`the key ${seal.keyId} seals what steps gave`);
  expect(sealing).toContain('in clear are inputs, outputs');
  expect(secrets).toBe(`ok Secrets: of hooks, callbacks and agents: 1 sealed with the key ${seal.keyId}, 1 in clear`);
});

it('of a machine without the key goes by the processes that live, and misses nothing', async () => {
  await keep(seal, 'b');
  const process = { id: 'w', services: ['worker'], startedAt: 0, release: '1', configuration: '1#a', zoneData: '2026a' };
  await beatProcess({ redis, keys }, { ...process, sealKey: seal.keyId ?? '' });
  const [sealing, secrets] = await rows(new Seal());
  expect(sealing).toContain(`ok Sealing: the key ${seal.keyId}`);
  expect(secrets).toMatch(/^ok /);
});
