import type { GateKind } from '../../ledger/index.ts';
import { describeSkew } from '../../redis/index.ts';
import { systemClock } from '../../time/index.ts';
import { closedGate, type GateReport, openGate, type WaitingTask } from '../why/wait-reason.ts';

/** Smaller differences of clocks, and later starts, are not mentioned. */
export const NOTABLE_MS = 2000;

/** The gate of a time that has come by another clock than that of Redis. */
export const CLOCK: GateKind = {
  gate: 'clock',
  sort: 'clock',
  waits: 'for a time that has come by the clock of this server, but not by that of Redis, which counts',
  limit: 'from that time on',
  order: null,
  opens: 'the clock of Redis',
  helps: "Times count by Redis's clock. An operator should synchronise the clock of this server.",
};

/** It is closed while a task waits for a time that has come by this server's clock only. */
export function explainClock({ state }: WaitingTask, skewMs: number): GateReport {
  const facts = { skewMs };
  const isNotable = Math.abs(skewMs) > NOTABLE_MS;
  const detail = isNotable ? `this server's clock is ${describeSkew(skewMs)}` : "this server's clock agrees with Redis";
  const isWrong = isNotable && state.notBefore !== undefined && systemClock.now() >= state.notBefore && redisTime(skewMs) < state.notBefore;
  return isWrong
    ? closedGate('clock', { detail, helps: CLOCK.helps, facts, until: state.notBefore ?? null })
    : openGate('clock', detail, facts);
}

export function redisTime(skewMs: number): number {
  return systemClock.now() - skewMs;
}
