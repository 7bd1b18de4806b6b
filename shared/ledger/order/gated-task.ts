/** A task as its gates see it. */
export interface GatedTask {
  id: string;
  createdAt: number;
  /** When it counts from at the caps, which an sla brings forward, ms. */
  from: number;
  isCritical: boolean;
  priority: number;
  /** A letter of its source, and 0 for low or 1. */
  class: string;
  /** Its own lane, that of its session, and how many of it run at once. */
  session: { name: string; limit: number } | null;
  /** Those that it shares, from narrow to wide; the caps come last. */
  lanes: readonly string[];
}

/** A lane that tasks share, or the caps, of which one is full. */
export type Gate = { kind: 'lane'; name: string } | { kind: 'cap'; name: CapName };
export type CapName = 'running' | 'class' | 'low';

/** Where a task is: in the line of its session or of a gate; granted, so that it stands at `slot` or runs; or `away`, for a time or a hold. */
export type Place = { kind: 'session' } | Gate | { kind: 'granted' } | { kind: 'away' };

/** What limits hold; a lane or a class without one has no bound. */
export interface GateLimits {
  lanes: Readonly<Record<string, number>>;
  running: number | null;
  low: number | null;
  byLetter: Readonly<Record<string, number>>;
}

export const NO_LIMITS: GateLimits = { lanes: {}, running: null, low: null, byLetter: {} };

/** A task with where it is, and since when others may pass it in a lane. */
export interface Gated {
  id: string;
  task: GatedTask;
  at: Place;
  passedAt: number | null;
}

/** Lines of lanes go by age behind what is critical. */
export function isOlderInLane({ task: one }: Gated, { task: other }: Gated): boolean {
  if (one.isCritical !== other.isCritical) return one.isCritical;
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt;
}

/** The line of the caps goes by priority, then by age. */
export function comesFirst({ task: one }: Gated, { task: other }: Gated): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.from === other.from ? one.id < other.id : one.from < other.from;
}

/** Lanes are kept for what was passed for longest, behind what is critical. */
export function isPassedLonger(one: Gated, other: Gated): boolean {
  if (one.task.isCritical !== other.task.isCritical) return one.task.isCritical;
  return one.passedAt === other.passedAt ? one.id < other.id : (one.passedAt ?? 0) < (other.passedAt ?? 0);
}

/** Whether a task may take a place that is kept for another: lines of lanes have no priorities but the critical one, those of caps have. */
export function goesBefore({ task }: Gated, keeper: Gated): boolean {
  if (keeper.task.isCritical) return false;
  return task.isCritical || (keeper.at.kind === 'cap' && task.priority > keeper.task.priority);
}

export function isWaiting({ at }: Gated): boolean {
  return at.kind === 'lane' || at.kind === 'cap';
}
