import type { TaskHold } from '../../errors/index.ts';
import { countHeld, countHeldBefore, holdKind, type Ledger, readEntry } from '../../ledger/index.ts';
import { describeSkew } from '../../redis/index.ts';
import { parseTimeline } from '../../tasks/index.ts';
import { plainLine } from '../../text/index.ts';
import { timeText } from '../../time/index.ts';
import { closedGate, type GateReport, openGate, waitingSince, type WaitingTask } from './wait-reason.ts';
import { NOTABLE_MS, redisTime } from '../gates/clock.ts';
import { helpsAt, timeKind } from '../gates/gate-kinds.ts';

/** The gate that holds a task without a slot: what it is by now, or else what ended the attempt. Null for a task that nothing holds. */
export async function explainHold(ledger: Ledger, task: WaitingTask): Promise<GateReport | null> {
  const { hold } = task.state;
  if (!hold) return null;
  const { tenant } = task.body;
  const [ahead, held] = await Promise.all([
    countHeldBefore(ledger, task.body, { hold, state: task.state }),
    countHeld(ledger, tenant, hold),
  ]);
  const kind = holdKind(ledger, hold.gate);
  const known = await kind?.explain?.(tenant, hold.what, ahead);
  // The bound of a hold is no time that anybody should wait for.
  const { detail, facts, until } = known ?? { detail: noteOf(task, hold), facts: {}, until: boundOf(task.state) };
  const comesBack = kind?.comesBack ? (task.state.notBefore ?? null) : null;
  return closedGate(hold.gate, {
    detail,
    helps: helpsAt(ledger, hold.gate),
    since: waitingSince(task.state),
    until: until ?? comesBack,
    facts: { what: hold.what, held, ahead, ...facts },
  });
}

/** What a run asks people while it goes on; null for nothing. */
export async function explainAsking(ledger: Ledger, { body, state: { asking } }: WaitingTask): Promise<GateReport | null> {
  const entry = asking && (await readEntry(ledger, body, asking.entry));
  if (entry?.status !== 'waiting') return null;
  const { name, startedAt: since, until = null } = entry;
  const facts = { what: asking?.question ?? null };
  return closedGate('question', {
    detail: `its run asks, and goes on: ${plainLine(name)}`,
    helps: helpsAt(ledger, 'question'),
    since,
    until,
    facts,
  });
}

/** Until when a hold lasts at most. A suspended run leaves its lane before that, perhaps. */
function boundOf({ suspended, notBefore }: WaitingTask['state']): number | null {
  return (suspended ? suspended.until : notBefore) ?? null;
}

function noteOf({ state }: WaitingTask, { gate, what }: TaskHold): string {
  return parseTimeline(state.log).findLast(({ note }) => note !== null)?.note ?? `held by the ${gate} ${what}`;
}

/** The gate of the time before which a task does not start. */
export function explainTime(ledger: Pick<Ledger, 'gates' | 'settings'>, task: WaitingTask, skewMs: number): GateReport {
  const { notBefore, gate } = task.state;
  if (notBefore === undefined) return openGate('time', 'it waits for no time');
  const name = gate ?? 'time';
  const detail = [describe(ledger, task, timeText(notBefore)), ...clockNotes(notBefore, skewMs)].join('; ');
  const leftMs = Math.max(0, notBefore - redisTime(skewMs));
  return closedGate(name, { detail, helps: helpsAt(ledger, name), since: waitingSince(task.state), until: notBefore, facts: { leftMs } });
}

function describe(ledger: Pick<Ledger, 'gates' | 'settings'>, task: WaitingTask, at: string): string {
  const gate = task.state.gate ?? 'time';
  // A throttled task waits for its provider by time.
  const words = timeKind(ledger, gate)?.describe(task, at, ledger) ?? holdKind(ledger, gate)?.describeTime?.(at);
  return words ?? `not before ${at}`;
}

/** Times are Redis's: people compare them with their own clock, so a difference is mentioned. */
function clockNotes(notBefore: number, skewMs: number): string[] {
  const overdueMs = redisTime(skewMs) - notBefore;
  return [
    ...(overdueMs > NOTABLE_MS ? ['its time has come, and no worker has seen it yet'] : []),
    ...(Math.abs(skewMs) > NOTABLE_MS ? [`by the clock of Redis; this server's is ${describeSkew(skewMs)}`] : []),
  ];
}
