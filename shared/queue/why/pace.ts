import { type Ledger, lookupsFor, readLookup, readStates } from '../../ledger/index.ts';
import type { TaskBody, TaskState } from '../../tasks/index.ts';
import { Recent } from '../../time/index.ts';
import type { WaitGate } from './wait-reason.ts';

export interface Standing {
  /** Tasks and tickets before it. */
  ahead: number;
  /** What it waits for; null for nothing but its turn. */
  gate: WaitGate | null;
}

/** Gates without an estimate here: a lane has the pace of what runs in it, and others wait for a worker or a person. */
const UNFORESEEN: ReadonlySet<WaitGate> = new Set<WaitGate>(['lane', 'steer', 'paused', 'worker', 'repeats']);
/** Gates whose wait ends with one more start: that of the task whose place becomes free. */
const FOR_A_PLACE: ReadonlySet<WaitGate> = new Set<WaitGate>(['fleet', 'queue', 'cap', 'turn']);

/** How long an estimate once made serves further calls of this process. */
const FRESH_MS = 2000;
/** An estimate that served fewer calls is used for so long: with thousands of tenants most need it seldom. */
const SELDOM = { uses: 4, freshMs: 60_000 };
/** Tenants whose pace is remembered. */
const MAX_TENANTS = 10_000;
/** Ended tasks the pace is read from. */
const SAMPLE = 20;

interface Pace {
  /** Monotonic ms of its reading. */
  at: number;
  uses: number;
  /** Milliseconds between two starts while tasks waited, going by the last ones; null when nothing ended yet. */
  msPerStart: number | null;
}

const paces = new WeakMap<Ledger, Recent<string, Pace>>();

/**
 * Milliseconds until a task will start: what is before it, at the pace of the tenant's last tasks.
 * Null when unknown: when nothing ended yet, behind others in a lane, and while no worker serves its queue.
 */
export async function estimateByPace(
  ledger: Ledger,
  due: Pick<TaskBody, 'tenant' | 'scheduledFor'>,
  standing: Standing,
): Promise<number | null> {
  return estimateAtPace(due, standing, dependsOnPace(standing) ? await paceOf(ledger, due.tenant) : null);
}

/** Whether an estimate needs the tenant's pace. */
export function dependsOnPace(standing: Standing): boolean {
  return startsBefore(standing) > 0;
}

/** The same at a pace that was read before; null for an unknown one. */
export function estimateAtPace(
  { scheduledFor }: Pick<TaskBody, 'scheduledFor'>,
  standing: Standing,
  msPerStart: number | null,
): number | null {
  if (standing.gate !== null && UNFORESEEN.has(standing.gate)) return null;
  const untilDue = scheduledFor === null ? 0 : Math.max(0, scheduledFor - Date.now());
  const starts = startsBefore(standing);
  if (starts === 0) return untilDue;
  return msPerStart === null ? null : Math.round(Math.max(untilDue, starts * msPerStart));
}

/** How many tasks start before it; none where that does not tell when it will. */
function startsBefore({ ahead, gate }: Standing): number {
  if (gate !== null && UNFORESEEN.has(gate)) return 0;
  return gate !== null && FOR_A_PLACE.has(gate) ? ahead + 1 : ahead;
}

/** Milliseconds between two starts of a tenant's tasks while others waited; null when nothing ended yet. */
export async function paceOf(ledger: Ledger, tenant: string): Promise<number | null> {
  const known = paces.get(ledger) ?? new Recent<string, Pace>({ maxEntries: MAX_TENANTS });
  paces.set(ledger, known);
  const recent = known.get(tenant);
  if (recent && isFresh(recent)) return recent.msPerStart;
  // Before the read, so that concurrent calls do not all make it.
  known.set(tenant, { at: performance.now(), uses: 0, msPerStart: recent?.msPerStart ?? null });
  const msPerStart = msBetweenStarts(await lastCompleted(ledger, tenant));
  known.set(tenant, { at: performance.now(), uses: 0, msPerStart });
  return msPerStart;
}

/** Counts a use of a pace, and says whether it may be used again without a reading. */
function isFresh(pace: Pace): boolean {
  pace.uses += 1;
  return performance.now() - pace.at < (pace.uses < SELDOM.uses ? SELDOM.freshMs : FRESH_MS);
}

async function lastCompleted(ledger: Ledger, tenant: string): Promise<TaskState[]> {
  const ranges = await Promise.all(
    lookupsFor(ledger, tenant, { status: 'completed' }).map((lookup) => readLookup(ledger, lookup, { low: '', before: null, max: SAMPLE })),
  );
  const states = await readStates(ledger, tenant, ranges.flat().slice(0, SAMPLE));
  return states.filter((state) => state !== null);
}

/** Only the time counts in which the later one of two was waiting: a fleet that had nothing to do was not slow. */
function msBetweenStarts(states: readonly TaskState[]): number | null {
  const started = states.map(({ startedAt = 0, queuedAt = 0 }) => ({ startedAt, queuedAt })).toSorted((a, b) => a.startedAt - b.startedAt);
  if (started.length < 2) return null;
  const waited = started.slice(1).map(({ startedAt, queuedAt }, position) => {
    const previous = started[position]?.startedAt ?? startedAt;
    return Math.max(0, startedAt - Math.max(previous, queuedAt));
  });
  return waited.reduce((sum, ms) => sum + ms, 0) / waited.length;
}
