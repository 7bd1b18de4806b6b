import { z } from 'zod';
import { type Keys, readRecords, type RedisClient } from '../../redis/index.ts';
import { writeOfTenant } from '../../tenants/index.ts';
import { type Finding, FINDING_CODES, SEVERITIES } from '../finding.ts';
import type { Acknowledgement, KeptFinding, Reconciled, StoredList } from './reconcile.ts';

/** Whose list: a tenant, or null for the installation. */
export type ListOwner = string | null;

interface StorePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

const findingSchema = z.object({
  id: z.string(),
  code: z.enum(FINDING_CODES),
  severity: z.enum(SEVERITIES),
  text: z.string(),
  helps: z.string(),
  count: z.int(),
  since: z.number().nullable(),
  link: z.string(),
  subject: z.string().nullable(),
  gate: z.string().nullable(),
});
const acknowledgementSchema = z.object({ at: z.number(), by: z.string().nullable(), severity: z.enum(SEVERITIES) });

/** What is stored. What another release wrote is left out. */
export async function readList({ redis, keys }: StorePorts, owner: ListOwner): Promise<StoredList> {
  const own = keysOf(keys, owner);
  const [findings, acknowledged] = await Promise.all([redis.hgetall(own.findings), redis.hgetall(own.acknowledged)]);
  return {
    findings: readRecords(Object.entries(findings), (text): Finding => findingSchema.parse(JSON.parse(text))).items,
    acknowledged: new Map(
      readRecords(Object.entries(acknowledged), (text, id) => ({ id, value: acknowledgementSchema.parse(JSON.parse(text)) })).items.map(
        ({ id, value }) => [id, value],
      ),
    ),
  };
}

/** Which changes this call was the first to store. */
export interface StoredChanges {
  opened: KeptFinding[];
  resolved: Finding[];
}

/** Stores changes. Of calls at the same time one is the first for each. */
export async function writeList(
  ports: StorePorts,
  owner: ListOwner,
  { opened, changed, resolved }: Omit<Reconciled, 'kept'>,
): Promise<StoredChanges> {
  const { redis, keys } = ports;
  const own = keysOf(keys, owner);
  const news = await Promise.all(opened.map((finding) => write(ports, owner, ['HSETNX', finding.id, textOf(finding)])));
  await Promise.all(changed.map((finding) => write(ports, owner, ['HSET', finding.id, textOf(finding)])));
  const gone = await Promise.all(resolved.map(({ id }) => redis.hdel(own.findings, id)));
  if (resolved.length > 0) await redis.hdel(own.acknowledged, ...resolved.map(({ id }) => id));
  return { opened: opened.filter((_, at) => news[at] === 1), resolved: resolved.filter((_, at) => gone[at] === 1) };
}

/** Notes that a person knows of a finding. */
export async function writeAcknowledgement(ports: StorePorts, owner: ListOwner, id: string, how: Acknowledgement): Promise<void> {
  const { redis, keys } = ports;
  const key = keysOf(keys, owner).acknowledged;
  const text = JSON.stringify(how);
  if (owner === null) await redis.hset(key, id, text);
  else await writeOfTenant({ redis, keys }, { tenant: owner, key, command: ['HSET', id, text] });
}

async function write(
  { redis, keys }: StorePorts,
  owner: ListOwner,
  [verb, id, text]: ['HSET' | 'HSETNX', string, string],
): Promise<unknown> {
  const key = keysOf(keys, owner).findings;
  if (owner !== null) return await writeOfTenant({ redis, keys }, { tenant: owner, key, command: [verb, id, text] });
  return verb === 'HSET' ? await redis.hset(key, id, text) : await redis.hsetnx(key, id, text);
}

function textOf(finding: KeptFinding): string {
  return JSON.stringify({ ...finding, acknowledged: undefined });
}

function keysOf(keys: Keys, owner: ListOwner): { findings: string; acknowledged: string } {
  return owner === null ? keys.fleet : keys.tenant(owner);
}
