import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Keys, readRecord, readRecords, type ReadRecords, type RedisClient } from '../redis/index.ts';
import { type ApiKey, SCOPES } from './key-store.ts';
import { tenantIdSchema } from './tenant.ts';
import { runTenantScript } from './write-of-tenant.ts';

interface PersonPorts {
  redis: RedisClient;
  keys: Keys;
}

const roleSchema = z.object({ tenant: tenantIdSchema, scopes: z.array(z.enum(SCOPES)).min(1) });
export type Role = z.infer<typeof roleSchema>;

const personSchema = z.object({
  id: z.string(),
  issuer: z.string(),
  subject: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  /** What the provider's claims gave at the last sign-in, one per tenant. */
  roles: z.array(roleSchema),
  firstAt: z.number().int(),
  lastAt: z.number().int(),
});
/** Somebody who signed in by a provider. */
export type Person = z.infer<typeof personSchema>;

/** Instead of a tenant's id: everywhere. */
export const EVERYWHERE = '*';

export interface PeopleBounds {
  maxPeople: number;
  peopleRetentionMs: number;
}

type SignedInPerson = Omit<Person, 'id' | 'firstAt'>;

const ID_CHARACTERS = 16;
const PAGE = 500;

/** The same person at the same provider has the same id. */
export function personId({ issuer, subject }: Pick<Person, 'issuer' | 'subject'>): string {
  return `person_${createHash('sha256').update(`${issuer}\n${subject}`).digest('hex').slice(0, ID_CHARACTERS)}`;
}

/** Records a sign-in with the roles that it brought, and forgets people beyond the bounds. */
export async function savePerson({ redis, keys }: PersonPorts, person: SignedInPerson, bounds: PeopleBounds): Promise<Person> {
  const id = personId(person);
  const { people, peopleSeen, peopleMarks } = keys.fleet;
  const stored = await redis.hget(people, id);
  const before = stored === null ? undefined : readRecords([[id, stored]], readPerson).items[0];
  const saved: Person = { ...person, id, firstAt: before?.firstAt ?? person.lastAt };
  const saving = redis.multi().hset(people, id, JSON.stringify(saved)).zadd(peopleSeen, String(person.lastAt), id);
  // Sign-ins of a person who was forgotten do not come back with the person. Of two first sign-ins at once both get the mark that stands.
  if (before === undefined) saving.hsetnx(peopleMarks, id, randomUUID());
  await saving.exec();
  const old = await redis.zrangebyscore(peopleSeen, '-inf', String(person.lastAt - bounds.peopleRetentionMs), 'LIMIT', 0, PAGE);
  const surplus = (await redis.zcard(peopleSeen)) - bounds.maxPeople;
  const oldest = surplus > 0 ? await redis.zrange(peopleSeen, '0', String(Math.min(surplus, PAGE) - 1)) : [];
  const gone = [...new Set([...old, ...oldest])];
  if (gone.length > 0)
    await redis
      .multi()
      .hdel(people, ...gone)
      .zrem(peopleSeen, ...gone)
      .hdel(peopleMarks, ...gone)
      .exec();
  return saved;
}

/** A sign-in of a person. */
export interface PersonSignIn {
  readonly person: string;
  /** The tenant that the person chose to act in. */
  readonly tenant: string;
  /** The mark that the person's sign-ins had when it was made. */
  readonly mark: string;
}

/**
 * What a person may do now, acting in the chosen tenant where there is a role for it; null when the sign-in has ended, or the
 * person is gone, disabled or without a role.
 */
export async function findPersonKey({ redis, keys }: PersonPorts, { person: id, tenant, mark }: PersonSignIn): Promise<ApiKey | null> {
  const { people, peopleDisabled, peopleMarks } = keys.fleet;
  const places = [people, peopleDisabled, keys.shard(0).tenantStates, peopleMarks];
  const reply = await runTenantScript<[stored: string, ...tenants: string[]] | null>(redis, 'find-person', places, [id, mark]);
  if (reply === null) return null;
  const [stored, ...unusable] = reply;
  const { roles, name, email, firstAt } = readRecord(id, stored, readPerson);
  const usable = roles.filter((role) => !unusable.includes(role.tenant));
  const role = usable.find((each) => each.tenant === tenant) ?? usable[0];
  if (role === undefined) return null;
  return { id, name, createdAt: firstAt, tenant: role.tenant, scopes: role.scopes, person: { email, roles: usable } };
}

/** The mark of a person's sign-ins; empty for people of earlier releases. */
export async function readSignInMark({ redis, keys }: PersonPorts, id: string): Promise<string> {
  return (await redis.hget(keys.fleet.peopleMarks, id)) ?? '';
}

/** Ends all sign-ins that a person has; the person may sign in again. */
export async function endSignIns({ redis, keys }: PersonPorts, id: string): Promise<void> {
  await redis.hset(keys.fleet.peopleMarks, id, randomUUID());
}

/** People by their last sign-in, newest first; `before`: the last one of the page before. */
export async function* iteratePeople({ redis, keys }: PersonPorts, before: PersonPlace | null): AsyncGenerator<ReadRecords<Person>> {
  const { people, peopleSeen } = keys.fleet;
  let from = before === null ? 0 : await rankAfter({ redis, keys }, before);
  for (;;) {
    const ids = await redis.zrevrange(peopleSeen, from, from + PAGE - 1);
    if (ids.length === 0) return;
    const stored = await redis.hmget(people, ...ids);
    yield readRecords(
      ids.flatMap((id, position) => (stored[position] ? [[id, stored[position]] as const] : [])),
      readPerson,
    );
    from += ids.length;
  }
}

/** Where a person is in the order of last sign-ins. */
export interface PersonPlace {
  lastAt: number;
  id: string;
}

/** The number of people up to and with this one, also when it signed in again meanwhile. */
async function rankAfter({ redis, keys }: PersonPorts, { lastAt, id }: PersonPlace): Promise<number> {
  const { peopleSeen } = keys.fleet;
  const newer = await redis.zcount(peopleSeen, `(${lastAt}`, '+inf');
  const same = await redis.zrangebyscore(peopleSeen, String(lastAt), String(lastAt));
  return newer + same.filter((each) => each >= id).length;
}

export async function readPersonById({ redis, keys }: PersonPorts, id: string): Promise<Person | null> {
  const stored = await redis.hget(keys.fleet.people, id);
  return stored === null ? null : readRecord(id, stored, readPerson);
}

/** Which of these people are disabled in a tenant, or everywhere. */
export async function areDisabled({ redis, keys }: PersonPorts, ids: readonly string[], tenant: string): Promise<boolean[]> {
  if (ids.length === 0) return [];
  const fields = ids.flatMap((id) => [`${id}/${tenant}`, `${id}/${EVERYWHERE}`]);
  const found = await redis.hmget(keys.fleet.peopleDisabled, ...fields);
  return ids.map((_, position) => found[2 * position] != null || found[2 * position + 1] != null);
}

/** Takes a person's role in a tenant, or all of them, or gives them back. Open sign-ins follow at once. */
export async function disablePerson(
  { redis, keys }: PersonPorts,
  id: string,
  where: { tenant: string; isDisabled: boolean },
): Promise<void> {
  const field = `${id}/${where.tenant}`;
  if (where.isDisabled) await redis.hset(keys.fleet.peopleDisabled, field, String(Date.now()));
  else await redis.hdel(keys.fleet.peopleDisabled, field);
}

/** Forgets a person. Open sign-ins end; a ban stays, or the next sign-in would lift it. */
export async function forgetPerson({ redis, keys }: PersonPorts, id: string): Promise<void> {
  const { people, peopleSeen, peopleMarks } = keys.fleet;
  await redis.multi().hdel(people, id).zrem(peopleSeen, id).hdel(peopleMarks, id).exec();
}

function readPerson(text: string): Person {
  return personSchema.parse(JSON.parse(text));
}
