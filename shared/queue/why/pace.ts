import type { WaitGate } from '../../errors/index.ts';
import { SOURCE_CLASSES, type TenantLimits } from '../../config/index.ts';
import { type Ledger, lookupsFor, readLookup, readStates } from '../../ledger/index.ts';
import { CLASS_LETTERS, type TaskBody, type TaskState } from '../../tasks/index.ts';
import { Recent } from '../../time/index.ts';
import { kindOf } from '../gates/gate-kinds.ts';

export interface Standing {
  /** Tasks and tickets before it. */
  ahead: number;
  /** What it waits for; null for nothing but its turn. */
  gate: WaitGate | null;
}

/** How long an estimate once made serves further calls of this process. */
const FRESH_MS = 2000;
/** An estimate that served fewer calls is used for so long: with thousands of tenants most need it seldom. */
const SELDOM = { uses: 4, freshMs: 60_000 };
/** Tenants whose pace is remembered. */
const MAX_TENANTS = 10_000;
/** Ended tasks the pace is read from. */
const SAMPLE = 20;

/** How fast a tenant's tasks start, going by the last ones; null when nothing ended yet. */
export interface Pace {
  /** Milliseconds between two starts while tasks with a grant waited. */
  msPerStart: number | null;
  /** Milliseconds between two grants at a full cap: one comes only when a task ends. Null too without a cap. */
  msPerGrant: number | null;
}

export const UNKNOWN_PACE: Pace = { msPerStart: null, msPerGrant: null };

interface KnownPace {
  /** Monotonic ms of its reading. */
  at: number;
  uses: number;
  pace: Pace;
}

const paces = new WeakMap<Ledger, Recent<string, KnownPace>>();

/**
 * Milliseconds until a task will start: what is before it, at the pace of the tenant's last tasks.
 * Null when unknown: when nothing ended yet, behind others in a lane, and while no worker serves its queue.
 */
export async function estimateByPace(
  ledger: Ledger,
  due: Pick<TaskBody, 'tenant' | 'scheduledFor'>,
  standing: Standing,
): Promise<number | null> {
  return estimateAtPace(ledger, due, standing, dependsOnPace(ledger, standing) ? await paceOf(ledger, due.tenant) : UNKNOWN_PACE);
}

/** Whether an estimate needs the tenant's pace. */
export function dependsOnPace(ledger: Kinds, standing: Standing): boolean {
  return startsBefore(ledger, standing) > 0;
}

/** The same at a pace that was read before; null for an unknown one. */
export function estimateAtPace(
  ledger: Kinds,
  { scheduledFor }: Pick<TaskBody, 'scheduledFor'>,
  standing: Standing,
  pace: Pace,
): number | null {
  if (isUnforeseen(ledger, standing)) return null;
  const untilDue = scheduledFor === null ? 0 : Math.max(0, scheduledFor - Date.now());
  const starts = startsBefore(ledger, standing);
  if (starts === 0) return untilDue;
  const msPerStart = kindOf(ledger, standing.gate)?.sort === 'counted' ? slowerOf(pace) : pace.msPerStart;
  return msPerStart === null ? null : Math.round(Math.max(untilDue, starts * msPerStart));
}

/** Milliseconds for each task that waits for a grant and for its start. */
export function slowerOf({ msPerStart, msPerGrant }: Pace): number | null {
  return msPerStart === null || msPerGrant === null ? (msPerStart ?? msPerGrant) : Math.max(msPerStart, msPerGrant);
}

type Kinds = Pick<Ledger, 'gates'>;

/** Whether there is no estimate here: a lane has the pace of what runs in it, and others wait for a worker or a person. */
function isUnforeseen(ledger: Kinds, { gate }: Standing): boolean {
  const kind = kindOf(ledger, gate);
  return kind?.sort === 'lane' || kind?.foreseen === 'never';
}

/** How many tasks start before it; none where that does not tell when it will. With a gate for a place also the one whose place becomes free. */
function startsBefore(ledger: Kinds, standing: Standing): number {
  if (isUnforeseen(ledger, standing)) return 0;
  return kindOf(ledger, standing.gate)?.foreseen === 'place' ? standing.ahead + 1 : standing.ahead;
}

/** The pace of a tenant's last tasks. */
export async function paceOf(ledger: Ledger, tenant: string): Promise<Pace> {
  const known = paces.get(ledger) ?? new Recent<string, KnownPace>({ maxEntries: MAX_TENANTS });
  paces.set(ledger, known);
  const recent = known.get(tenant);
  if (recent && isFresh(recent)) return recent.pace;
  // Before the read, so that concurrent calls do not all make it.
  known.set(tenant, { at: performance.now(), uses: 0, pace: recent?.pace ?? UNKNOWN_PACE });
  const states = await lastCompleted(ledger, tenant);
  const pace = { msPerStart: msBetweenStarts(states), msPerGrant: msBetweenGrants(states, ledger.limitsOf(tenant)) };
  known.set(tenant, { at: performance.now(), uses: 0, pace });
  return pace;
}

/** Counts a use of a pace, and says whether it may be used again without a reading. */
function isFresh(known: KnownPace): boolean {
  known.uses += 1;
  return performance.now() - known.at < (known.uses < SELDOM.uses ? SELDOM.freshMs : FRESH_MS);
}

async function lastCompleted(ledger: Ledger, tenant: string): Promise<TaskState[]> {
  const ranges = await Promise.all(
    lookupsFor(ledger, tenant, { status: 'completed' }).map((lookup) => readLookup(ledger, lookup, { low: '', before: null, max: SAMPLE })),
  );
  const states = await readStates(ledger, tenant, ranges.flat().slice(0, SAMPLE));
  return states.filter((state) => state !== null);
}

/** How far apart grants are while as many of these tasks run as may, ms. */
function msBetweenGrants(states: readonly TaskState[], limits: TenantLimits | null): number | null {
  const cap = narrowestCap(states, limits);
  const ran = states.flatMap(({ startedAt, completedAt }) =>
    startedAt === undefined || completedAt === undefined ? [] : [Math.max(0, completedAt - startedAt)],
  );
  if (cap === null || ran.length === 0) return null;
  return ran.reduce((sum, ms) => sum + ms, 0) / ran.length / Math.max(1, cap);
}

/** A class has its own cap where all of these tasks are of it. */
function narrowestCap(states: readonly TaskState[], limits: TenantLimits | null): number | null {
  const letters = new Set(states.map((state) => state.class.charAt(0)));
  const ofClass = SOURCE_CLASSES.filter((name) => letters.size === 1 && letters.has(CLASS_LETTERS[name])).map(
    (name) => limits?.runningByClass[name],
  );
  const caps = [limits?.running, ...ofClass].filter((cap) => typeof cap === 'number');
  return caps.length === 0 ? null : Math.min(...caps);
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
