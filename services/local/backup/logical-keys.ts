import { z } from 'zod';
import { type Keys, type RedisClient, scanKeys, type ShardKeys } from '#shared/redis/index.ts';
import { DEFAULT_TENANT } from '#shared/tenants/index.ts';
import type { IsWanted } from './key-values.ts';

/** Keys of a tenant that its tasks are made of, by their names without the tenant: they are in the records of the tasks, or follow from these. */
const OF_TASKS = new Set(['bodies', 'task-states', 'outputs', 'results', 'attempts', 'running-usage', 'live', 'index']);
/** Keys that are read again, or belong to calls that are lost with the fleet. */
const PASSING = new Set(['load', 'last-load', 'reservations', 'shed']);
const PREFIXES = ['lane:', 'journal:', 'task-files:', 'refused:'];

/** Whether a key of a tenant is a record of its own in a backup. */
export function isOwnRecord(name: string): boolean {
  return !OF_TASKS.has(name) && !PASSING.has(name) && !PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Keys by which schedules fire: they come last in a restore. */
export function isOfSchedules(name: string): boolean {
  return name.startsWith('schedule');
}

type SetName = {
  [Name in keyof ShardKeys]: ShardKeys[Name] extends string ? Name : never;
}[keyof ShardKeys];

/** Sets of a shard whose entries are in a backup. Those that follow from tasks are not; `at`: where the tenant stands in an entry. */
export const SHARD_SETS = [
  { name: 'reminders', at: 0 },
  { name: 'openEvents', at: 0 },
  { name: 'openBatches', at: 0 },
  { name: 'openCancels', at: 0 },
  { name: 'ended', at: 2 },
  { name: 'deliveriesDue', at: 0 },
  { name: 'actionsDue', at: 0 },
  { name: 'erasuresDue', at: 0 },
  { name: 'filesDue', at: 0 },
  { name: 'circuitsDue', at: 0 },
  { name: 'schedulesDue', at: 0 },
  { name: 'agentCaps', at: 0 },
  { name: 'budgetVersions', at: 0 },
] as const satisfies readonly { name: SetName; at: number }[];

/** What all names of the fleet's keys start with. */
export function fleetPrefix(keys: Keys): string {
  return keys.fleet.tenants.slice(0, -'tenants'.length);
}

interface FleetPart {
  readonly key: string;
  readonly isWanted: IsWanted;
}

/** What the first shard has of these tenants, or of the whole fleet: what opens them, their daemons, and people. Not what processes write anew. */
export async function fleetParts(redis: RedisClient, keys: Keys, ids: ReadonlySet<string>, isOfFleet: boolean): Promise<FleetPart[]> {
  const { fleet } = keys;
  const isIn = (id: unknown): boolean => typeof id === 'string' && ids.has(id);
  const inJson =
    (member: string): IsWanted =>
    (_field, value) =>
      isIn(memberOf(value, member));
  const ofTenants = await Promise.all([...ids].map((id) => partsOfTenant(redis, keys, id)));
  return [
    { key: fleet.tenants, isWanted: inJson('id') },
    { key: fleet.apiKeys, isWanted: inJson('tenant') },
    { key: fleet.hookOwners, isWanted: (_hook, owner) => isIn(owner) },
    { key: fleet.daemonTokens, isWanted: (_digest, place) => isIn(place.split('/')[0]) },
    { key: fleet.peopleDisabled, isWanted: (place) => isOfFleet || isIn(place.split('/')[1]) },
    ...ofTenants.flat(),
    ...(isOfFleet ? await partsOfAll(redis, keys) : []),
  ];
}

async function partsOfTenant(redis: RedisClient, { fleet }: Keys, id: string): Promise<FleetPart[]> {
  const visitors = await redis.zrange(fleet.visitors(id), '0', '-1');
  const own = [fleet.daemons(id), fleet.daemonNames(id), fleet.visitors(id), ...visitors.map((digest) => fleet.visitor(digest))];
  return own.map((key) => ({ key, isWanted: () => true }));
}

async function partsOfAll(redis: RedisClient, { fleet }: Keys): Promise<FleetPart[]> {
  const chat: string[] = [];
  for await (const page of scanKeys(redis, `${fleet.chat}*`)) chat.push(...page);
  const own = [fleet.tenantGenerations, fleet.people, fleet.peopleSeen, fleet.peopleMarks, fleet.limits];
  return [...own, ...new Set(chat)].map((key) => ({ key, isWanted: () => true }));
}

/** The ids of all tenants that have not ended, and the default one. */
export async function tenantIds(redis: RedisClient, keys: Keys): Promise<string[]> {
  const records = await redis.hvals(keys.fleet.tenants);
  const ids = records.flatMap((text) => {
    const id = memberOf(text, 'id');
    return typeof id === 'string' ? [id] : [];
  });
  return [...new Set([DEFAULT_TENANT, ...ids])].toSorted();
}

const recordSchema = z.record(z.string(), z.unknown());

function memberOf(text: string, member: string): unknown {
  return recordSchema.parse(JSON.parse(text))[member];
}
