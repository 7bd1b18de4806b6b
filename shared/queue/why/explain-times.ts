import type { Settings } from '../../config/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { describeSkew } from '../../redis/index.ts';
import { systemClock, timeText } from '../../time/index.ts';
import { describeSuspect } from './explain-loss.ts';
import { HELPS, helpsAt } from './helps.ts';
import { closedGate, type GateReport, openGate, waitingSince, type WaitingTask } from './wait-reason.ts';

/** Smaller differences of clocks, and later starts, are not mentioned. */
const NOTABLE_MS = 2000;

/** The gate of the time before which a task does not start. */
export function explainTime(ledger: Pick<Ledger, 'holds' | 'settings'>, task: WaitingTask, skewMs: number): GateReport {
  const { notBefore, gate } = task.state;
  if (notBefore === undefined) return openGate('time', 'it waits for no time');
  const name = gate ?? 'time';
  const detail = [timeDetail(task, ledger.settings, timeText(notBefore)), ...clockNotes(notBefore, skewMs)].join('; ');
  const leftMs = Math.max(0, notBefore - redisTime(skewMs));
  return closedGate(name, { detail, helps: helpsAt(ledger, name), since: waitingSince(task.state), until: notBefore, facts: { leftMs } });
}

function timeDetail({ state, attempts }: WaitingTask, settings: Settings, at: string): string {
  if (state.gate === 'provider') return `provider cooldown until ${at}`;
  if (state.gate === 'suspect') return describeSuspect(state, settings, at);
  if (state.gate === 'debounce') return `collects messages until ${at}`;
  if (state.gate !== 'retry') return `not before ${at}`;
  return `retry after failure ${state.error?.code ?? attempts.at(-1)?.error?.code ?? 'of the last attempt'}, not before ${at}`;
}

/** Times are Redis's: people compare them with their own clock, so a difference is mentioned. */
function clockNotes(notBefore: number, skewMs: number): string[] {
  const overdueMs = redisTime(skewMs) - notBefore;
  return [
    ...(overdueMs > NOTABLE_MS ? ['its time has come, and no worker has seen it yet'] : []),
    ...(Math.abs(skewMs) > NOTABLE_MS ? [`by the clock of Redis; this server's is ${describeSkew(skewMs)}`] : []),
  ];
}

/** The gate of the clocks: it is closed while a task waits for a time that has come by this server's clock only. */
export function explainClock({ state }: WaitingTask, skewMs: number): GateReport {
  const facts = { skewMs };
  const isNotable = Math.abs(skewMs) > NOTABLE_MS;
  const detail = isNotable ? `this server's clock is ${describeSkew(skewMs)}` : "this server's clock agrees with Redis";
  const isWrong = isNotable && state.notBefore !== undefined && systemClock.now() >= state.notBefore && redisTime(skewMs) < state.notBefore;
  return isWrong
    ? closedGate('clock', { detail, helps: HELPS.clock, facts, until: state.notBefore ?? null })
    : openGate('clock', detail, facts);
}

/** The gate of the deadline before which a task has to start. */
export function explainDeadline({ state }: WaitingTask, skewMs: number, startMs: number | null): GateReport {
  const { deadline } = state;
  if (deadline === undefined) return openGate('deadline', 'it has no deadline');
  const leftMs = deadline - redisTime(skewMs);
  const at = timeText(deadline);
  const facts = { deadline: new Date(deadline).toISOString(), leftMs: Math.max(0, leftMs) };
  if (leftMs <= 0)
    return closedGate('deadline', { detail: `its deadline ${at} has passed`, helps: HELPS.deadline, facts, since: deadline });
  const isLate = startMs !== null && startMs > leftMs;
  return openGate('deadline', isLate ? `it will probably not start before its deadline ${at}` : `it has to start before ${at}`, facts);
}

function redisTime(skewMs: number): number {
  return systemClock.now() - skewMs;
}
