import { type Ledger, readState } from '../../ledger/index.ts';
import { systemClock } from '../../time/index.ts';
import type { CapPlace } from './explain-caps.ts';
import type { LanePlace } from './explain-lanes.ts';
import type { TaskFront } from './front.ts';
import { estimateByPace } from './pace.ts';
import type { FleetFacts } from './read-facts.ts';
import { ServiceCosts } from './service-costs.ts';
import { waitForSlot } from './slot-supply.ts';
import type { GateReport, WaitGate, WaitingTask } from './wait-reason.ts';

export interface StartFacts {
  facts: FleetFacts;
  task: WaitingTask;
  front: TaskFront;
  lanes: LanePlace;
  caps: CapPlace;
  /** What it waits for first. */
  gate: WaitGate | null;
  /** What holds it, if anything does. */
  hold: Pick<GateReport, 'until'> | null;
}

/** Of the wait for a slot as it is now, what is left of it on average later: what is in front goes on meanwhile. */
const LATER = 0.5;

/** Gates without an estimate: nobody knows when a message is taken in, a queue resumed, or a worker started. Nor when a cap of 0 is raised. */
const UNFORESEEN: ReadonlySet<WaitGate | null> = new Set<WaitGate>(['steer', 'paused', 'worker']);

/**
 * Milliseconds until a task will start: its time, its lane, its tenant's caps, and what goes before it into the slots of the workers, by how
 * long tasks hold them. Null when unknown.
 */
export async function estimateStart(ledger: Ledger, start: StartFacts): Promise<number | null> {
  const { facts, task, front, caps, gate, hold } = start;
  if (isUnforeseen(start)) return null;
  const now = systemClock.now() - facts.skewMs;
  const { notBefore } = task.state;
  // The time of a hold is its bound.
  if (hold !== null) return hold.until === null ? null : Math.max(0, hold.until - now);
  if (notBefore !== undefined) return Math.max(0, notBefore - now);
  const costs = new ServiceCosts(facts);
  const costMs = costs.ofTask(task);
  const slotMs = waitForSlot(ledger, { facts, task, costs, front });
  if (slotMs === null || costMs === null) return await estimateUnmeasured(ledger, start);
  if (gate === 'lane') return Math.round(await waitForLane(ledger, start, { costMs, slotMs, now }));
  const grantMs = gate === 'cap' ? waitForCap(caps, costMs + slotMs * LATER) : 0;
  return Math.round(Math.max(grantMs + slotMs * (grantMs > 0 ? LATER : 1), facts.limitedMs));
}

function isUnforeseen({ caps, gate }: StartFacts): boolean {
  return UNFORESEEN.has(gate) || (gate === 'cap' && caps.limit === 0);
}

/** Tasks under a full cap wait for a slot and run; as many do so at once as the cap allows. */
function waitForCap({ ahead, limit }: CapPlace, eachMs: number): number {
  return limit === null ? 0 : ((ahead + 1) * eachMs) / limit;
}

/** By the tenant's last starts: its agents' times are not known yet. */
async function estimateUnmeasured(ledger: Ledger, { task, front, caps, gate }: StartFacts): Promise<number | null> {
  const due = { tenant: task.body.tenant, scheduledFor: null };
  return await estimateByPace(ledger, due, { ahead: gate === 'cap' ? caps.ahead : front.inFleet, gate });
}

interface LaneTimes {
  /** How long a task of this kind holds the lane, and waits for a slot, ms. */
  costMs: number;
  slotMs: number;
  now: number;
}

/** Each task before it in the line waits for a slot and runs; the holder has done a part of that. */
async function waitForLane(ledger: Ledger, { task, lanes }: StartFacts, { costMs, slotMs, now }: LaneTimes): Promise<number> {
  const { ahead, holder, limit } = lanes;
  if (ahead === 0) return slotMs;
  const state = holder === null ? null : await readState(ledger, task.body.tenant, holder);
  const startedAt = state?.status === 'running' ? state.startedAt : undefined;
  // One that runs longer than usual has an unknown end; half of the usual is left of it.
  const holderMs = startedAt === undefined ? costMs + slotMs : Math.max(costMs - (now - startedAt), costMs / 2);
  const turns = ahead / Math.max(1, limit);
  const laterMs = slotMs * LATER;
  return holderMs / Math.max(1, limit) + Math.max(0, turns - 1) * (costMs + laterMs) + laterMs;
}
