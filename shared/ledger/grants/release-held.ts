import { HOLD_GATES, type TaskHold } from '../../errors/index.ts';
import type { TaskBody, TaskState } from '../../tasks/index.ts';
import { lookupName } from '../read/lookups.ts';
import { readStates } from '../read/read-states.ts';
import { holdKind } from '../gate-kind.ts';
import type { Ledger } from '../ledger.ts';
import { idInMember, promoteHeld } from './promote-tasks.ts';
import { backlogPlace } from './standing.ts';

const NO_END = '\u00ff';
/** Tasks that one script releases. */
const PAGE = 100;

/** How the scripts list what this holds, as `hold_member` does: what comes before priority and age. */
export function prefixOf({ gate, what }: TaskHold): string {
  return `hold=${lookupName(gate, what).replace('=', ':')}/`;
}

/** How many of a tenant's tasks this holds. */
export async function countHeld({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string, hold: TaskHold): Promise<number> {
  const prefix = prefixOf(hold);
  return await redis.zlexcount(keys.tenant(tenant).live, `[${prefix}`, `(${prefix}${NO_END}`);
}

/** How many of a tenant's tasks this releases before one that it holds. */
export async function countHeldBefore(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  { tenant, id }: Pick<TaskBody, 'tenant' | 'id'>,
  { hold, state }: { hold: TaskHold; state: TaskState },
): Promise<number> {
  const prefix = prefixOf(hold);
  const rank = `${10 - state.priority}`.padStart(2, '0');
  return await redis.zlexcount(keys.tenant(tenant).live, `[${prefix}`, `(${prefix}${rank}/${backlogPlace(state, id)}`);
}

/** What holds tasks of a tenant at this gate now, each once, at most `max`. */
export async function listHolds(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  tenant: string,
  gate: TaskHold['gate'],
  max: number,
): Promise<TaskHold[]> {
  const { live } = keys.tenant(tenant);
  const holds: TaskHold[] = [];
  let from = `[hold=${gate}:`;
  while (holds.length < max) {
    const [member] = await redis.zrangebylex(live, from, `(hold=${gate}:${NO_END}`, 'LIMIT', 0, 1);
    const [, name = ''] = /^hold=\w+:([^/]*)\//.exec(member ?? '') ?? [];
    if (member === undefined) break;
    const what = name.replaceAll('%2F', '/').replaceAll('%25', '%');
    holds.push({ gate, what });
    from = `(hold=${gate}:${name}/${NO_END}`;
  }
  return holds;
}

/**
 * Releases the first `max` tasks that this holds, by priority and age: into their lanes, and to a ticket when the caps have room.
 * Returns their ids in that order. Calls at the same time release each task once.
 */
export async function releaseHeld(ledger: Ledger, tenant: string, hold: TaskHold, max: number): Promise<string[]> {
  const prefix = prefixOf(hold);
  const { live } = ledger.keys.tenant(tenant);
  const released: string[] = [];
  while (released.length < max) {
    const page = Math.min(PAGE, max - released.length);
    const members = await ledger.redis.zrangebylex(live, `[${prefix}`, `(${prefix}${NO_END}`, 'LIMIT', 0, page);
    const answers = await promoteHeld(ledger, tenant, members);
    released.push(...members.filter((_, at) => answers[at]?.kind === 'promoted').map((member) => idInMember(member)));
    // What the script failed for is still there: others behind it wait for the next call.
    if (members.length < page || answers.some(({ kind }) => kind === 'failed')) break;
  }
  return released;
}

/** Tasks of which one call finds out whether they are meant. */
interface HeldChoice {
  isMeant: (hold: TaskHold) => boolean;
  max: number;
}

/** Releases those tasks of the first `max` that this holds which are meant, in the same order. */
export async function releaseHeldWhere(ledger: Ledger, tenant: string, hold: TaskHold, { isMeant, max }: HeldChoice): Promise<string[]> {
  const prefix = prefixOf(hold);
  const { live } = ledger.keys.tenant(tenant);
  const released: string[] = [];
  let from = `[${prefix}`;
  for (let read = 0; read < max; read += PAGE) {
    const members = await ledger.redis.zrangebylex(live, from, `(${prefix}${NO_END}`, 'LIMIT', 0, PAGE);
    const states = await readStates(
      ledger,
      tenant,
      members.map((member) => idInMember(member)),
    );
    const meant = members.filter((_, at) => states[at]?.hold && isMeant(states[at].hold));
    const answers = await promoteHeld(ledger, tenant, meant);
    released.push(...meant.filter((_, at) => answers[at]?.kind === 'promoted').map((member) => idInMember(member)));
    if (members.length < PAGE) break;
    from = `(${members.at(-1)}`;
  }
  return released;
}

/** Holds of a tenant and gate that one call looks at. */
const MAX_HOLDS = 1000;

/**
 * Releases at most `max` tasks of each hold whose cause is gone: its end released nothing, because a process died, or the cause was removed with
 * its agent. Costs one command while nothing is held.
 */
export async function releaseUncaused(ledger: Ledger, tenant: string, max: number): Promise<number> {
  let released = 0;
  for (const gate of HOLD_GATES) {
    const kind = holdKind(ledger, gate);
    if (!kind?.endsWithCause) continue;
    for (const hold of await listHolds(ledger, tenant, gate, MAX_HOLDS)) {
      if ((await kind.explain?.(tenant, hold.what, 0)) !== null) continue;
      released += (await releaseHeld(ledger, tenant, hold, max)).length;
    }
  }
  return released;
}
