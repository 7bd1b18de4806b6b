import { SOURCE_CLASSES } from '../../config/index.ts';
import { backlogPlace, type Ledger, readStates } from '../../ledger/index.ts';
import { CLASS_LETTERS, type TaskState } from '../../tasks/index.ts';
import { HELPS } from './helps.ts';
import { closedGate, type GateReport, openGate, waitingSince, type WaitingTask } from './wait-reason.ts';

interface Cap {
  name: string;
  limit: number;
  /** Classes of the tasks that it counts: a letter and 0 for low priority, else 1. */
  classes: string[];
}

/** Where a task stands under its tenant's caps. */
export interface CapPlace {
  /** One for each cap that is full; else an open one. */
  gates: GateReport[];
  /** Tasks of the backlog that are promoted before it. */
  ahead: number;
  /** How many tasks run at once under the narrowest cap, and of which classes; null without one. */
  narrowest: Pick<Cap, 'limit' | 'classes'> | null;
}

/** Which of its tenant's caps a task waits for. */
export async function explainCaps(ledger: Ledger, task: WaitingTask): Promise<CapPlace> {
  const caps = capsOf(ledger, task);
  const held = await Promise.all(
    caps.map(({ classes }) =>
      countTasks(
        ledger,
        task,
        classes.map((each) => `granted=${each}/`),
      ),
    ),
  );
  const counted = caps.map((cap, position) => ({ ...cap, held: held[position] ?? 0 }));
  const facts = Object.fromEntries(counted.map(({ name, held: count, limit }) => [name, `${count}/${limit}`]));
  const full = counted.filter(({ held: count, limit }) => count >= limit);
  if (!meetsCaps(task, full)) {
    const figures = counted.map(({ name, held: count, limit }) => `${name} cap ${count}/${limit}`);
    const detail = figures.length === 0 ? 'its tenant has no caps' : figures.join(', ');
    return { gates: [openGate('cap', detail, facts)], ahead: 0, narrowest: narrowest(caps) };
  }
  const ahead = await countBacklog(ledger, task, full[0]?.classes ?? ALL_CLASSES);
  const since = waitingSince(task.state);
  const place = { tenantPlace: ahead + 1 };
  const before = ahead === 0 ? '' : `, ${ahead} before it`;
  const details = full.length > 0 ? full.map(({ name, held: count, limit }) => `${name} cap ${count}/${limit}${before}`) : [FREE_AGAIN];
  const gates = details.map((detail) => closedGate('cap', { detail, helps: HELPS.cap, since, facts: { ...facts, ...place } }));
  return { gates: [...gates, ...promisedPlace(task, since)], ahead, narrowest: narrowest(full.length > 0 ? full : caps) };
}

/** Whether it waits for caps: it stands there, or in the line of a lane in front of caps that are full too. */
function meetsCaps({ state: { gate, sharedLanes } }: WaitingTask, full: readonly Cap[]): boolean {
  return gate === 'cap' || (gate === 'lane' && sharedLanes !== undefined && full.length > 0);
}

/** Of a critical task that a running one makes room for. */
function promisedPlace({ state: { preempts, gate } }: WaitingTask, since: number): GateReport[] {
  if (preempts === undefined || gate !== 'cap') return [];
  return [closedGate('cap', { detail: `gets the place of task ${preempts}, which stops`, helps: HELPS.cap, since, taskId: preempts })];
}

const FREE_AGAIN = 'tenant caps; one has become free';
const LETTERS = Object.values(CLASS_LETTERS);
const ALL_CLASSES = LETTERS.flatMap((letter) => [`${letter}1`, `${letter}0`]);

/** The caps that hold for a task of this class: its tenant's own, and its tenant's shares of the fleet's. */
function capsOf(ledger: Ledger, { body, state }: WaitingTask): Cap[] {
  const limits = ledger.limitsOf(body.tenant);
  const shares = ledger.fleetShareOf?.(body.tenant)?.shares ?? {};
  const letter = state.class.slice(0, 1);
  const source = SOURCE_CLASSES.find((each) => CLASS_LETTERS[each] === letter);
  const ofClass = [`${letter}1`, `${letter}0`];
  const low = state.class.endsWith('0') ? LETTERS.map((each) => `${each}0`) : null;
  const figures: [name: string, limit: number | null | undefined, classes: string[] | null][] = [
    ['tenant', limits?.running, ALL_CLASSES],
    [`tenant's ${source}`, source && limits?.runningByClass[source], ofClass],
    ["tenant's low priority", limits?.runningLow, low],
    [`tenant's share of the fleet's ${source}`, source && shares[source], ofClass],
    ["tenant's share of the fleet's low priority", shares.low, low],
  ];
  return figures.flatMap(([name, limit, classes]) => (typeof limit === 'number' && classes ? [{ name, limit, classes }] : []));
}

function narrowest(caps: readonly Cap[]): Cap | null {
  return caps.toSorted((one, other) => one.limit - other.limit)[0] ?? null;
}

async function countTasks({ redis, keys }: Ledger, { body }: WaitingTask, prefixes: readonly string[]): Promise<number> {
  const { live } = keys.tenant(body.tenant);
  const counts = await Promise.all(prefixes.map((prefix) => redis.zlexcount(live, `[${prefix}`, `(${prefix}\u00ff`)));
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
  const counts = await Promise.all(classes.map((each) => redis.zlexcount(live, `[backlog=${each}/`, `(backlog=${each}/${own}`)));
  return counts.reduce((sum, count) => sum + count, 0);
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
