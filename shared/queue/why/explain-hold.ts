import type { TaskHold } from '../../errors/index.ts';
import { countHeld, countHeldBefore, type Ledger } from '../../ledger/index.ts';
import { parseTimeline } from '../../tasks/index.ts';
import { helpsAt } from './helps.ts';
import { closedGate, type GateReport, waitingSince, type WaitingTask } from './wait-reason.ts';

/** The gate that holds a task without a slot: what it is by now, or else what ended the attempt. Null for a task that nothing holds. */
export async function explainHold(ledger: Ledger, task: WaitingTask): Promise<GateReport | null> {
  const { hold } = task.state;
  if (!hold) return null;
  const { tenant } = task.body;
  const [ahead, held] = await Promise.all([
    countHeldBefore(ledger, task.body, { hold, state: task.state }),
    countHeld(ledger, tenant, hold),
  ]);
  const kind = ledger.holds[hold.gate];
  const known = await kind?.explain?.(tenant, hold.what, ahead);
  // The bound of a hold is no time that anybody should wait for.
  const { detail, facts, until } = known ?? { detail: noteOf(task, hold), facts: {}, until: task.state.notBefore ?? null };
  const comesBack = kind?.comesBack ? (task.state.notBefore ?? null) : null;
  return closedGate(hold.gate, {
    detail,
    helps: helpsAt(ledger, hold.gate),
    since: waitingSince(task.state),
    until: until ?? comesBack,
    facts: { what: hold.what, held, ahead, ...facts },
  });
}

function noteOf({ state }: WaitingTask, { gate, what }: TaskHold): string {
  return parseTimeline(state.log).findLast(({ note }) => note !== null)?.note ?? `held by the ${gate} ${what}`;
}
