import { beforeEach, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { countVersion, ForeignAgents, isAgentNew, noteAgents, versionsOf } from '#shared/queue/registry/foreign-agents.ts';
import { beatProcess, type ProcessIdentity, removeProcess } from '#shared/queue/registry/process-registry.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { useRedisClient } from '../../../support/redis/use-redis.ts';

const redis = await useRedisClient();
const ports = { redis, keys: createKeys(1) };
const log = createLog({ level: 'silent', service: 'test' });
beforeEach(async () => void (await redis.flushall()));

const processOf = (configuration: string): ProcessIdentity => ({
  id: `worker@${configuration}`,
  services: ['worker'],
  startedAt: 1,
  release: configuration,
  configuration,
  zoneData: '2026a',
});

async function start(configuration: string, agents: readonly string[]): Promise<void> {
  await noteAgents(ports, configuration, { agents });
  await beatProcess(ports, processOf(configuration));
}

it('an agent is new while a process lives whose configuration lacks it, and no more once that has ended', async () => {
  await start('old', ['echo']);
  await start('new', ['echo', 'newer']);
  expect(await isAgentNew(ports, 'new', ['echo', 'newer'])).toBe(true);
  expect(await isAgentNew(ports, 'new', ['echo'])).toBe(false);
  await removeProcess(ports, processOf('old'));
  expect(await isAgentNew(ports, 'new', ['echo', 'newer'])).toBe(false);
});

it('among processes of one configuration no agent is new', async () => {
  await start('one', ['echo']);
  expect(await isAgentNew(ports, 'one', ['echo'])).toBe(false);
});

it('a worker knows of what another configuration has and its own lacks once it looks', async () => {
  const foreign = new ForeignAgents({ ...ports, own: ['echo'], log });
  await noteAgents(ports, 'new', { agents: ['echo', 'newer'] });
  expect(await foreign.refresh()).toBe(true);
  expect(foreign.text).toBe(',newer,');
});

it('versions are those of workers that live: one that others have and it lacks is foreign', async () => {
  const agents = { echo: { version: 'v2' }, plain: {} };
  expect(versionsOf(agents)).toEqual(['echo@v2']);
  const foreign = new ForeignAgents({ ...ports, own: [...Object.keys(agents), ...versionsOf(agents)], log });
  await noteAgents(ports, 'old', { agents: ['echo', 'plain'] });
  await noteAgents(ports, 'old', { versions: ['echo@v1'] });
  await noteAgents(ports, 'new', { versions: ['echo@v2'] });
  await foreign.refresh();
  expect(foreign.text).toBe(',echo@v1,');
  expect(await countVersion(ports, 'echo', 'v1')).toEqual({ having: 1, others: 1 });
  expect(await countVersion(ports, 'echo', 'v0')).toEqual({ having: 0, others: 2 });
  await redis.hset(ports.keys.fleet.configuredAgents, 'old worker', '1 echo@v1');
  await foreign.refresh();
  expect(foreign.text).toBe('');
  expect(await countVersion(ports, 'echo', 'v1')).toEqual({ having: 0, others: 1 });
});
