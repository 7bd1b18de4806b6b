import type { TaskQueue } from '../../config/index.ts';
import type { Band } from '../slots/slot-policy.ts';

/** Tasks of one band that start one after the other. */
export interface Segment {
  band: Band;
  count: number;
  /** How long each holds a slot, ms. */
  costMs: number;
}

/** What waits in one queue, in the order in which it starts. */
export interface Flow {
  queue: TaskQueue;
  /** Slots that the queue is sure of. */
  weight: number;
  segments: Segment[];
}

/** What the flows share. */
export interface SlotSupply {
  slots: number;
  /** Of these, the ones that only critical tasks use. */
  reserved: number;
  /** Slots in which nothing runs. */
  free: number;
  /** How long what runs holds a slot, ms. */
  runningMs: number;
  /** Of slots whose attempts run much longer than that: milliseconds until each is expected to end. */
  lateMs: readonly number[];
  shares: Readonly<Record<Band, number>>;
}

/** Steps after which a drain is given up; each ends a segment, or the wait for a late slot. */
const MAX_STEPS = 200;

/**
 * Milliseconds until the last task of `own` starts, as workers share their slots: critical tasks first, then the bands by their shares, and
 * in a band the queues by weight. Null where it would never start.
 */
export function timeToLastStart(own: Flow, others: readonly Flow[], supply: SlotSupply): number | null {
  const mine = copyOf(own);
  const flows = [mine, ...others.map(copyOf)];
  const late = supply.lateMs.toSorted((one, other) => one - other);
  startInFreeSlots(flows, supply.free);
  let passedMs = 0;
  const maxSteps = MAX_STEPS + late.length;
  for (let step = 0; step < maxSteps && mine.segments.length > 0; step += 1) {
    const paces = pacesOf(flows, { ...supply, slots: Math.max(0, supply.slots - late.length) });
    const lateMs = Math.max(0, (late[0] ?? Number.POSITIVE_INFINITY) - passedMs);
    const stepMs = Math.min(lateMs, ...flows.map((flow, at) => timeOf(flow.segments[0], paces[at] ?? 0)));
    if (!Number.isFinite(stepMs)) return null;
    passedMs += stepMs;
    for (const [at, flow] of flows.entries()) drain(flow, (paces[at] ?? 0) * stepMs);
    if (stepMs < lateMs) continue;
    late.shift();
    startInFreeSlots(flows, 1);
  }
  return passedMs;
}

/** A copy that may be drained. */
function copyOf({ queue, weight, segments }: Flow): Flow {
  const waiting = segments.filter(({ count }) => count > 0);
  return { queue, weight, segments: waiting.map(({ band, count, costMs }) => ({ band, count, costMs })) };
}

function timeOf(segment: Segment | undefined, pace: number): number {
  return segment === undefined || pace <= 0 ? Number.POSITIVE_INFINITY : segment.count / pace;
}

/** Less than this of a task is none. */
const NOTHING = 1e-9;

function drain(flow: Flow, started: number): void {
  const [first] = flow.segments;
  if (first === undefined) return;
  first.count -= started;
  if (first.count <= NOTHING) flow.segments.shift();
}

/** Free slots take what is next, each queue by its weight. */
function startInFreeSlots(flows: readonly Flow[], free: number): void {
  const waiting = flows.filter(({ segments }) => segments.length > 0);
  const weights = waiting.reduce((sum, { weight }) => sum + weight, 0);
  for (const flow of waiting) {
    let left = (free * flow.weight) / weights;
    while (left > NOTHING && flow.segments.length > 0) {
      const taken = Math.min(left, flow.segments[0]?.count ?? 0);
      drain(flow, taken);
      left -= taken;
    }
  }
}

/** Starts in a millisecond, by flow. */
function pacesOf(flows: readonly Flow[], supply: SlotSupply): number[] {
  const slots = shareSlots(flows, supply);
  // More cannot start than slots become free.
  const freed = supply.slots / Math.max(1, supply.runningMs);
  return flows.map(({ segments: [first] }, at) => (first ? Math.min(freed, (slots[at] ?? 0) / Math.max(1, first.costMs)) : 0));
}

function shareSlots(flows: readonly Flow[], { slots, reserved, shares }: SlotSupply): number[] {
  const isActive = ({ segments }: Flow): boolean => segments.length > 0;
  const hasCritical = flows.some((flow) => flow.queue === 'critical' && isActive(flow));
  const ordinary = flows.filter((flow) => flow.queue !== 'critical' && isActive(flow));
  // What is critical leaves only what becomes free besides.
  const ordinarySlots = Math.max(0, slots - reserved);
  const left = hasCritical ? Math.max(1, ordinarySlots / 2) : ordinarySlots;
  const byBand = Map.groupBy(ordinary, ({ segments: [first] }) => first?.band ?? 'normal');
  const allShares = [...byBand.keys()].reduce((sum, band) => sum + shares[band], 0);
  return flows.map((flow) => {
    const [first] = flow.segments;
    if (first === undefined) return 0;
    if (flow.queue === 'critical') return slots;
    const band = byBand.get(first.band) ?? [flow];
    const weights = band.reduce((sum, { weight }) => sum + weight, 0);
    return (left * shares[first.band] * flow.weight) / (allShares * weights);
  });
}
