import type { TaskHold } from '../../errors/index.ts';
import { countHeld, type Ledger } from '../../ledger/index.ts';
import { parseTimeline } from '../../tasks/index.ts';
import { HELPS } from './helps.ts';
import { closedGate, type GateReport, waitingSince, type WaitingTask } from './wait-reason.ts';

/** The gate that holds a task without a slot: what it is by now, or else what ended the attempt. Null for a task that nothing holds. */
export async function explainHold(ledger: Ledger, task: WaitingTask): Promise<GateReport | null> {
  const { hold } = task.state;
  if (!hold) return null;
  const { tenant } = task.body;
  const [known, held] = await Promise.all([ledger.holds[hold.gate]?.(tenant, hold.what), countHeld(ledger, tenant, hold)]);
  const { detail, facts, until } = known ?? { detail: noteOf(task, hold), facts: {}, until: null };
  return closedGate(hold.gate, {
    detail,
    helps: HELPS[hold.gate],
    since: waitingSince(task.state),
    until: until ?? task.state.notBefore ?? null,
    facts: { what: hold.what, held, ...facts },
  });
}

function noteOf({ state }: WaitingTask, { gate, what }: TaskHold): string {
  return parseTimeline(state.log).findLast(({ note }) => note !== null)?.note ?? `held by the ${gate} ${what}`;
}
