import type { TaskHold } from '../../errors/index.ts';
import type { Ledger } from '../ledger.ts';
import { lookupName, lookupValue } from '../read/lookups.ts';
import { idInMember } from './promote-tasks.ts';
import { prefixOf } from './release-held.ts';

type Reader = Pick<Ledger, 'redis' | 'keys'>;

/** A task that is held, where it stands: a lower place goes first. */
export interface HeldTask {
  id: string;
  place: string;
}

/** Tasks that this holds by priority and age, at most `max` of those behind this place. */
export async function readHeldTasks(
  { redis, keys }: Reader,
  tenant: string,
  hold: TaskHold,
  { after, max }: { after: string | undefined; max: number },
): Promise<HeldTask[]> {
  const prefix = prefixOf(hold);
  const from = after === undefined ? `[${prefix}` : `(${prefix}${after}`;
  const members = await redis.zrangebylex(keys.tenant(tenant).live, from, `(${prefix}\u00ff`, 'LIMIT', 0, max);
  return members.map((member) => ({ id: idInMember(member), place: member.slice(prefix.length) }));
}

/** The first of what a gate holds tasks of a tenant for that begins with `prefix`, and not with `after` or what comes before that; null for none. */
export async function readNextHold(
  { redis, keys }: Reader,
  tenant: string,
  gate: TaskHold['gate'],
  { prefix, after }: { prefix: string; after: string | undefined },
): Promise<string | null> {
  const nameOf = (what: string): string => lookupName(`hold=${gate}`, what).replace(`${gate}=`, `${gate}:`);
  const from = after === undefined ? `[${nameOf(prefix)}` : `(${nameOf(after)}\u00ff`;
  const [member] = await redis.zrangebylex(keys.tenant(tenant).live, from, `(${nameOf(prefix)}\u00ff`, 'LIMIT', 0, 1);
  const [, name] = /^hold=\w+:([^/]*)\//.exec(member ?? '') ?? [];
  return name === undefined ? null : lookupValue(name);
}
