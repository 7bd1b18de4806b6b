import { afterEach, expect, it } from 'vitest';
import { claimConfiguration, type ConfigurationClaim } from '#shared/queue/registry/configurations.ts';
import { useParts } from '../../../support/use-parts.ts';
import { beatAs } from './test-processes.ts';

const parts = await useParts();
afterEach(async () => {
  await parts.redis.flushall();
});

/** As a scheduler claims at its start; with `absentMs` as one that has run for a while. */
const claim = (configuration: string, absentMs = 0): Promise<ConfigurationClaim> =>
  claimConfiguration(parts, `v1#${configuration}`, { absentMs });
const SUPERSEDED = { kind: 'superseded', by: 'v1#new' };
const IN_FORCE = { kind: 'in-force', replaced: null };

it('the first is in force, also for others that have it and when it claims again', async () => {
  expect([await claim('old'), await claim('old'), await claim('old', 60_000)]).toEqual([IN_FORCE, IN_FORCE, IN_FORCE]);
});

it('a new one replaces the one before, which then changes nothing while a scheduler of the newer lives', async () => {
  await claim('old');
  await beatAs(parts, { configuration: 'new' });
  expect(await claim('new')).toEqual({ kind: 'in-force', replaced: 'v1#old' });
  expect([await claim('old'), await claim('old', 60_000)]).toEqual([SUPERSEDED, SUPERSEDED]);
  expect(await claim('new')).toEqual(IN_FORCE);
});

it('an old one comes back when it starts and no scheduler of the newer lives; the newer is new again when it returns', async () => {
  await claim('old');
  const newer = await beatAs(parts, { configuration: 'new' });
  await claim('new');
  await newer.end();
  // It ran before: the newer one may only be restarting.
  expect(await claim('old', 60_000)).toEqual({ kind: 'superseded', by: 'v1#new' });
  expect(await claim('old')).toEqual({ kind: 'in-force', replaced: 'v1#new' });
  expect(await claim('new')).toEqual({ kind: 'in-force', replaced: 'v1#old' });
});

it('processes of other services with a newer one hold up no older one', async () => {
  await claim('old');
  await claim('new');
  await parts.redis.zadd(parts.keys.fleet.processes, Date.now() + 1000, 'rubbish', Date.now() + 1000, '7');
  await beatAs(parts, { id: 'api', services: ['api'], configuration: 'new' });
  expect(await claim('old')).toMatchObject({ kind: 'in-force' });
});

it('of two that come at once one is in force in the end', async () => {
  await Promise.all(['a', 'b'].map((configuration) => beatAs(parts, { id: configuration, configuration })));
  const claims = await Promise.all([claim('a'), claim('b')]);
  expect(claims.map(({ kind }) => kind)).toEqual(['in-force', 'in-force']);
  const again = await Promise.all([claim('a'), claim('b')]);
  expect(again.map(({ kind }) => kind).toSorted()).toEqual(['in-force', 'superseded']);
});

it('keeps no more than its bound', async () => {
  for (let count = 0; count < 60; count += 1) await claim(`edit ${count}`);
  expect(await parts.redis.hlen(parts.keys.fleet.configurations)).toBe(50);
});
