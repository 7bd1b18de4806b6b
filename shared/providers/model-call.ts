import { randomUUID } from 'node:crypto';
import type { PriorityBand } from '../tasks/index.ts';
import type { ProviderAnswer, Refusal } from './answers/index.ts';
import type { Because, CallFlow, ThrottleBand, ThrottledModel } from './throttle-scripts.ts';

/** A call of a model to admit. */
export interface ModelCall extends ThrottledModel {
  readonly place: { readonly tenant: string; readonly id: string; readonly token: number };
  readonly band: PriorityBand;
  /** The tenant's. */
  readonly weight: number;
  /** Of the input, and of the output at most. */
  readonly tokens: number;
  /** Whether it is its attempt's first, which may release its slot. */
  readonly isFirst: boolean;
}

/** The permission of one call. Its caller reports its end. */
export interface CallPermit extends ThrottledModel {
  readonly id: string;
  /** When it could go, by Redis's clock, ms. */
  readonly at: number;
  readonly tokens: number;
  /** Where its task waits when it is refused. */
  readonly flow: CallFlow;
}

/** How the task of a call that may not go now, or was refused, waits. */
export interface CallHold {
  because: Because;
  /** What the provider's error named. */
  scope: 'model' | 'account' | 'endpoint';
  /** When it may go at the earliest, by Redis's clock, ms. */
  untilMs: number;
  /** What holds it in the ledger, at most for so long. */
  hold: { gate: 'provider'; what: string };
  holdMs: number;
  /** Its place among those that wait, to release when its task is not held after all. */
  place: WaitingPlace;
}

/** Where a task waits for a model. */
export interface WaitingPlace extends ThrottledModel {
  readonly flow: CallFlow;
}

export type Admission = { kind: 'go'; permit: CallPermit } | ({ kind: 'wait' } & CallHold);

/** How a call ended. */
export interface CallReport extends ProviderAnswer {
  /** Tokens that it used; undefined when unknown. None without a status: it was never made, and its place is released. */
  readonly tokens?: number | undefined;
  /** When it was sent, monotonic ms. Absent: when it was booked for. */
  readonly sentAt?: number | undefined;
  /** Until its answer began, ms; 0 when none did. */
  readonly beganAfterMs?: number | undefined;
}

/** What came of a program that calls its provider itself. */
export type RunReport = { readonly kind: 'answered' | 'unknown' } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Names sort by precedence: later calls of attempts before first ones, then by arrival. */
export function permitName({ isFirst, place }: ModelCall, nowMs: number): string {
  const arrival = `${nowMs}`.padStart(15, '0');
  return `${isFirst ? 1 : 0}${arrival}/${place.tenant}/${place.id}/${place.token}/${randomUUID().slice(0, 8)}`;
}

/** Where the task of a call waits. */
export function flowOf({ place, band, weight }: ModelCall): CallFlow {
  return { tenant: place.tenant, band: throttleBand(band), weight };
}

function throttleBand(band: PriorityBand): ThrottleBand {
  return band === 'critical' ? 'high' : band;
}
