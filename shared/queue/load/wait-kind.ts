import { sortOf } from '../../errors/index.ts';

/**
 * What a waiting task counts as:
 * - `slot`: it waits only for a free slot
 * - `daemon`: no daemon that fits is there
 * - `held`: something has to be released first: money, a provider, an agent, a paused queue
 * - `parked`: it waits for others, or for its time: a lane, a cap, a retry
 */
export const WAIT_KINDS = ['slot', 'daemon', 'held', 'parked'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** The kind of what waits at a gate; null is a free slot. */
export function waitKindOf(gate: string | null): WaitKind {
  if (gate === null) return 'slot';
  if (gate === 'daemon') return 'daemon';
  return sortOf(gate) === 'hold' ? 'held' : 'parked';
}
