import { readState } from '../ledger/index.ts';
import { explainWait, type Intake, kindOf, type WaitExplanation, type WaitReason } from '../queue/index.ts';
import type { SessionRecord } from './session-record.ts';

/** What the next task of a session waits for, for people. */
export interface NextWait {
  /** Why it waits for a worker, when its session lets it run; null for what its record says. */
  reason: string | null;
  /** Milliseconds until it should start; null when unknown. */
  startMs: number | null;
}

/** Adds to a session what its next task waits for outside the session, and about how long. */
export async function withWait<Described extends SessionRecord>(
  ports: Pick<Intake, 'ledger' | 'queues'>,
  tenant: string,
  record: Described,
): Promise<Described & { next: NextWait | null }> {
  const id = nextOf(record);
  const state = id === null ? null : await readState(ports.ledger, tenant, id);
  if (id === null || state === null) return { ...record, next: null };
  const explained = await explainWait(ports, { body: { id, tenant }, state, attempts: [] });
  const reason = state.granted ? reasonOutside(ports, explained) : null;
  return { ...record, next: { reason, startMs: explained.estimatedStartMs } };
}

/** The task that starts next. */
function nextOf({ holder, waiting }: SessionRecord): string | null {
  if (holder !== null && holder.reason !== null) return holder.taskId;
  return waiting[0]?.taskId ?? null;
}

function reasonOutside({ ledger }: Pick<Intake, 'ledger'>, { reasons: [first], gates }: WaitExplanation): string | null {
  const place = gates.find(({ gate }) => gate === 'queue')?.facts['fleetPlace'];
  return first ? reasonText(ledger, first, typeof place === 'number' ? place - 1 : 0) : null;
}

/** People of a chat know neither queues nor tickets. */
function reasonText(ledger: Intake['ledger'], { gate }: Pick<WaitReason, 'gate'>, ahead: number): string | null {
  const behind = ahead === 0 ? 'it is next' : ahead === 1 ? 'one is before it' : `${ahead} are before it`;
  return kindOf(ledger, gate)?.inChat?.(behind) ?? null;
}
