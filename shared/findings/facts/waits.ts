import pMap from 'p-map';
import type { TaskQueue } from '../../config/index.ts';
import { HOLD_GATES, type TaskHold, type WaitGate } from '../../errors/index.ts';
import { type Ledger, countHeld, listHolds, readFirstPlaces, readStates, readTask } from '../../ledger/index.ts';
import {
  explainHold,
  explainWait,
  helpsAt,
  kindOf,
  listBusyWorkers,
  type Load,
  type Queues,
  takesFrom,
  waitKindOf,
  type WorkerRecord,
} from '../../queue/index.ts';
import type { TaskState } from '../../tasks/index.ts';

/** What holds tasks of a tenant, with how many. */
export interface HeldTasks {
  gate: string;
  what: string;
  count: number;
  /** When the first of them came there, and was accepted; ms since the epoch. */
  since: number;
  acceptedAt: number;
  /** When that ends, where that is known. */
  until: number | null;
  /** In words, as `why` says it. */
  detail: string;
  /** What helps, as `why` says it. */
  helps: string;
  /** Whether a run waits there without a slot, and from which on that is long, ms. */
  isSuspended: boolean;
  longMs: number;
}

/** From which on a wait is long, unless its gate says, ms. */
const LONG_MS = 60_000;

/** Holds of one tenant and gate that are looked at, and read at once. */
const MAX_HOLDS = 100;
const CONCURRENCY = 10;

export async function readHeld(ledger: Ledger, tenant: string): Promise<HeldTasks[]> {
  const holds = (await Promise.all(HOLD_GATES.map((gate) => listHolds(ledger, tenant, gate, MAX_HOLDS)))).flat();
  if (holds.length === 0) return [];
  const firsts = await readFirstPlaces(ledger, tenant, holds);
  const heads = firsts.map(({ place }) => (place === null ? '' : place.slice(place.lastIndexOf('/') + 1)));
  const states = await readStates(ledger, tenant, heads);
  const held = await pMap(holds, (hold, at) => describeHold(ledger, { tenant, hold, id: heads[at] ?? '', state: states[at] ?? null }), {
    concurrency: CONCURRENCY,
  });
  return held.filter((each) => each !== null);
}

interface HoldHead {
  tenant: string;
  hold: TaskHold;
  /** The task that goes first; its state is null when it went. */
  id: string;
  state: TaskState | null;
}

/** As `why` explains the first of them. */
async function describeHold(ledger: Ledger, { tenant, hold, id, state }: HoldHead): Promise<HeldTasks | null> {
  if (state === null) return null;
  const [count, report] = await Promise.all([
    countHeld(ledger, tenant, hold),
    explainHold(ledger, { body: { id, tenant }, state, attempts: [] }),
  ]);
  if (report === null || count === 0) return null;
  const { detail, until, since } = report;
  const helps = report.helps ?? helpsAt(ledger, hold.gate);
  return {
    ...hold,
    count,
    since: since ?? state.createdAt,
    acceptedAt: state.createdAt,
    until,
    detail,
    helps,
    isSuspended: state.status === 'suspended',
    longMs: kindOf(ledger, hold.gate)?.longMs ?? LONG_MS,
  };
}

/** What keeps tasks waiting for long at a gate where nothing holds them. */
export interface LongWait {
  gate: WaitGate;
  count: number;
  /** How long the first of them has waited. */
  oldestMs: number;
  detail: string;
  helps: string;
}

/** From which on a wait is long where the kind of the gate does not say it. */
const LONG_BY_DEFAULT_MS = 60_000;

/** The gates where the first of several tasks waits for long, each explained by that task. What holds tasks is in `readHeld`. */
export async function readLongWaits(ports: { ledger: Ledger; queues: Queues }, { waiting }: Load): Promise<LongWait[]> {
  const unheld = waiting.filter(({ gate }) => ['slot', 'parked'].includes(waitKindOf(gate)));
  const groups = [...Map.groupBy(unheld, ({ gate }) => gate ?? 'queue')];
  const found = await Promise.all(
    groups.map(async ([gate, all]) => {
      const first = all.reduce((one, other) => ((other.oldestMs ?? 0) > (one.oldestMs ?? 0) ? other : one));
      if ((first.oldestMs ?? 0) < (kindOf(ports.ledger, gate)?.longMs ?? LONG_BY_DEFAULT_MS)) return null;
      const count = all.reduce((sum, each) => sum + each.count, 0);
      return await explain(ports, first, { count, oldestMs: first.oldestMs ?? 0 });
    }),
  );
  return found.filter((each) => each !== null);
}

/** Null for a task that waits no more. */
async function explain(
  ports: { ledger: Ledger; queues: Queues },
  { queue, oldest: { tenant, id } }: Load['waiting'][number],
  figures: Pick<LongWait, 'count' | 'oldestMs'>,
): Promise<LongWait | null> {
  const task = await readTask(ports.ledger, tenant, id);
  if (!task) return null;
  const { reasons, gates } = await explainWait(ports, { ...task, attempts: [] });
  const [reason] = reasons;
  if (!reason) return null;
  const helps = gates.find(({ gate }) => gate === reason.gate)?.helps ?? helpsAt(ports.ledger, reason.gate);
  // What is in front of the first says nothing of many.
  const detail = reason.gate === 'queue' ? await describeSlots(ports.ledger, queue) : reason.detail;
  return { ...figures, gate: reason.gate, detail, helps };
}

async function describeSlots(ledger: Ledger, queue: TaskQueue): Promise<string> {
  const serving = (await listBusyWorkers(ledger)).filter((worker) => takesFrom(worker, queue));
  const sum = (count: (worker: WorkerRecord) => number | null): number => serving.reduce((total, each) => total + (count(each) ?? 0), 0);
  return `${sum(({ running }) => running)} of the ${sum(({ slots }) => slots)} slots that serve the queue "${queue}" are in use`;
}
