import { type Gate, type StoredOutcome, type TaskOutcome, type TaskStatus, outcomeRecord } from '../../tasks/index.ts';
import { scriptFailure } from '../script-calls.ts';

export interface AcceptedAnswer {
  kind: 'accepted';
  id: string;
  status: TaskStatus;
  gate: Gate | null;
  /** Outbox entry of its ticket; null when it has none yet. */
  entry: string | null;
  /** Tasks before it in its lane or backlog. */
  ahead: number;
  /** Tasks of the tenant that have not ended. */
  depth: number;
  /** Of a task that ended in the step that accepted it. */
  outcome: TaskOutcome | null;
}

export type AcceptAnswer =
  | AcceptedAnswer
  | { kind: 'duplicate' | 'conflict'; id: string }
  | { kind: 'rate'; retryAfterMs: number; scope: string }
  | { kind: 'waiting'; waiting: number }
  /** Its tenant takes in nothing. */
  | { kind: 'closed'; state: 'disabled' | 'ended' };

/** One task's part in the reply of a script that accepts. */
export type AcceptReply = [kind: string, ...details: unknown[]];

/** The tickets that one call owes: the ids of their tasks, and their common entry in the outbox. */
interface CallOutbox {
  entry: string;
  tickets: ReadonlySet<string>;
}

/** What a call of a script that accepts says of its whole: the entry is empty when it owes no ticket. */
export function outboxOf(tenant: string, entry: string): CallOutbox {
  return { entry: `${tenant}/${entry}`, tickets: new Set(entry.split(',').map((ticket) => ticket.split('.')[0] ?? '')) };
}

/** Reads what a script that accepts says of one task. */
export function readAcceptReply(id: string, [kind, ...details]: AcceptReply, depth: number, owed: CallOutbox): AcceptAnswer | Error {
  const [first, second, third, outcome] = details;
  if (kind === 'failed') return scriptFailure(String(first), `task ${id} could not be accepted`);
  if (kind === 'duplicate' || kind === 'conflict') return { kind, id: first as string };
  if (kind === 'rate') return { kind, retryAfterMs: first as number, scope: second as string };
  if (kind === 'closed') return { kind, state: first as 'disabled' | 'ended' };
  if (kind === 'waiting') return { kind, waiting: first as number };
  return {
    kind: 'accepted',
    id,
    status: first as TaskStatus,
    gate: second === '' ? null : (second as Gate),
    entry: owed.tickets.has(id) ? owed.entry : null,
    ahead: third as number,
    depth,
    outcome: outcome === undefined ? null : outcomeRecord(JSON.parse(outcome as string) as StoredOutcome),
  };
}
