import type { Ledger } from '../ledger/ledger.ts';
import { listTasks } from '../ledger/list-tasks.ts';
import type { TaskBody } from '../tasks/task.ts';
import type { WaitGate } from './wait-reason.ts';

interface Standing {
  ahead: number;
  depth: number;
  /** What it waits for; null for nothing but its turn. */
  gate: WaitGate | null;
}

/** Of these the tenant's pace says nothing: a lane goes at the pace of what runs in it, and who serves a queue again nobody knows. */
const UNFORESEEN: ReadonlySet<WaitGate> = new Set<WaitGate>(['lane', 'steer', 'paused', 'worker']);

/** How long an estimate once made serves further calls of this process. */
const FRESH_MS = 2000;
/** Tenants whose pace is remembered. */
const REMEMBERED = 1000;
/** Ended tasks the pace is read from. */
const SAMPLE = 20;

interface Pace {
  at: number;
  /** Milliseconds between two starts, going by the last tasks; null when nothing ended yet. */
  msPerStart: number | null;
}

const paces = new WeakMap<Ledger, Map<string, Pace>>();

/**
 * Milliseconds until a task will start: what is before it, at the pace of the tenant's last tasks.
 * Null when nobody knows: when nothing ended yet, behind others in a lane, and while no worker takes from its queue.
 */
export async function estimateStart(
  ledger: Ledger,
  { tenant, scheduledFor }: TaskBody,
  { ahead, depth, gate }: Standing,
): Promise<number | null> {
  if (gate !== null && UNFORESEEN.has(gate)) return null;
  const untilDue = scheduledFor === null ? 0 : Math.max(0, scheduledFor - Date.now());
  if (ahead === 0 && depth <= 1) return untilDue;
  const msPerStart = await paceOf(ledger, tenant);
  if (msPerStart === null) return ahead === 0 ? untilDue : null;
  return Math.round(Math.max(untilDue, ahead * msPerStart));
}

async function paceOf(ledger: Ledger, tenant: string): Promise<number | null> {
  const known = paces.get(ledger) ?? new Map<string, Pace>();
  paces.set(ledger, known);
  const recent = known.get(tenant);
  if (recent && Date.now() - recent.at < FRESH_MS) return recent.msPerStart;
  if (known.size >= REMEMBERED) known.clear();
  // Before the answer, so that the calls that come meanwhile do not all ask.
  known.set(tenant, { at: Date.now(), msPerStart: recent?.msPerStart ?? null });
  const { items } = await listTasks(ledger, tenant, { status: 'completed' }, { limit: SAMPLE });
  const starts = items.map(({ state }) => state.startedAt ?? 0).toSorted((a, b) => a - b);
  const msPerStart = starts.length < 2 ? null : ((starts.at(-1) ?? 0) - (starts[0] ?? 0)) / (starts.length - 1);
  known.set(tenant, { at: Date.now(), msPerStart });
  return msPerStart;
}
