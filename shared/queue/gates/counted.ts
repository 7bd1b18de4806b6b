import type { WaitGate } from '../../errors/index.ts';
import { backlogPlace, type Ledger, readStates } from '../../ledger/index.ts';
import { CLASS_LETTERS, type TaskState } from '../../tasks/index.ts';
import { closedGate, type GateReport, openGate, waitingSince, type WaitingTask } from '../why/wait-reason.ts';
import type { Cap, CountedKind, LinePlace } from './gate-kinds.ts';

const LETTERS = Object.values(CLASS_LETTERS);
export const LOW_CLASSES = LETTERS.map((letter) => `${letter}0`);
export const ALL_CLASSES = LETTERS.flatMap((letter) => [`${letter}1`, `${letter}0`]);

/** Which bounds of a counted gate a task waits for, and where it stands in their line. */
export async function placeAt(ledger: Ledger, task: WaitingTask, kind: CountedKind): Promise<LinePlace> {
  const { gate } = kind;
  const caps = kind.caps(ledger, task);
  const counted = await Promise.all(caps.map(async (cap) => ({ ...cap, held: await countGranted(ledger, task, cap) })));
  const facts = Object.fromEntries(counted.map(({ name, held, limit }) => [name, `${held}/${limit}`]));
  const full = counted.filter(({ held, limit }) => held >= limit);
  const figures = (of: typeof counted): string[] => of.map(({ name, held, limit }) => `${name} cap ${held}/${limit}`);
  if (!meetsIt(gate, task, full)) {
    const detail = counted.length === 0 ? kind.noCaps : figures(counted).join(', ');
    return { gates: [openGate(gate, detail, facts)], ahead: 0, holders: [], ...narrowest(caps) };
  }
  const ahead = await countBacklog(ledger, task, full[0]?.classes ?? ALL_CLASSES);
  const since = waitingSince(task.state);
  const before = ahead === 0 ? '' : `, ${ahead} before it`;
  const details = full.length > 0 ? figures(full).map((each) => `${each}${before}`) : [kind.freeAgain];
  const closed = { helps: kind.helps, since };
  const gates = details.map((detail) => closedGate(gate, { ...closed, detail, facts: { ...facts, tenantPlace: ahead + 1 } }));
  return {
    gates: [...gates, ...promisedPlace(gate, task, closed)],
    ahead,
    holders: [],
    ...narrowest(full.length > 0 ? full : caps),
  };
}

/** Whether it waits there: it stands there, or in the line of a lane in front of bounds that are full too. */
function meetsIt(name: WaitGate, { state: { gate, sharedLanes } }: WaitingTask, full: readonly Cap[]): boolean {
  return gate === name || (gate === 'lane' && sharedLanes !== undefined && full.length > 0);
}

/** Of a critical task that a running one makes room for. */
function promisedPlace(
  name: WaitGate,
  { state: { preempts, gate } }: WaitingTask,
  closed: Pick<Parameters<typeof closedGate>[1], 'helps' | 'since'>,
): GateReport[] {
  if (preempts === undefined || gate !== name) return [];
  return [closedGate(name, { ...closed, detail: `gets the place of task ${preempts}, which stops`, taskId: preempts })];
}

function narrowest(caps: readonly Cap[]): Pick<LinePlace, 'limit' | 'classes'> {
  const [first] = caps.toSorted((one, other) => one.limit - other.limit);
  return { limit: first?.limit ?? null, classes: first?.classes ?? [] };
}

/** Tasks with a grant that a bound counts. */
async function countGranted({ redis, keys }: Ledger, { body }: WaitingTask, { classes }: Cap): Promise<number> {
  const { live } = keys.tenant(body.tenant);
  return sumOf(await Promise.all(classes.map((each) => redis.zlexcount(live, `[granted=${each}/`, `(granted=${each}/\u00ff`))));
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

const RANKS = 10;

/** The place of a task in the backlog of its class, as grants.lua writes it. */
function placeOf({ body, state }: WaitingTask): string {
  return `${String(RANKS - state.priority).padStart(2, '0')}/${backlogPlace(state, body.id)}`;
}

/** How many of these classes are better, or as good and older. */
async function countBacklog({ redis, keys }: Ledger, task: WaitingTask, classes: readonly string[]): Promise<number> {
  const { live } = keys.tenant(task.body.tenant);
  const own = placeOf(task);
  return sumOf(await Promise.all(classes.map((each) => redis.zlexcount(live, `[backlog=${each}/`, `(backlog=${each}/${own}`))));
}

/** The first of them, at most `max`. */
export async function readBacklog(ledger: Ledger, task: WaitingTask, classes: readonly string[], max: number): Promise<TaskState[]> {
  const { tenant } = task.body;
  const { live } = ledger.keys.tenant(tenant);
  const own = placeOf(task);
  const found = await Promise.all(
    classes.map(async (each) => {
      const prefix = `backlog=${each}/`;
      const members = await ledger.redis.zrangebylex(live, `[${prefix}`, `(${prefix}${own}`, 'LIMIT', 0, max);
      return members.map((member) => member.slice(prefix.length));
    }),
  );
  const first = found.flat().toSorted().slice(0, max);
  const states = await readStates(
    ledger,
    tenant,
    first.map((place) => place.slice(Math.max(place.lastIndexOf('/'), place.lastIndexOf('.')) + 1)),
  );
  return states.filter((state) => state !== null);
}
