import type { Gate } from '../../errors/index.ts';
import { type StoredOutcome, type TaskOutcome, type TaskStatus, outcomeRecord } from '../../tasks/index.ts';
import { scriptFailure } from '../batches.ts';
import { type OutboxTicket, parseOutboxEntry } from '../grants/outbox.ts';

export interface AcceptedAnswer {
  kind: 'accepted';
  id: string;
  status: TaskStatus;
  /** What it waits at; `turn` for its turn among granted tasks. */
  gate: Gate | 'turn' | null;
  /** Outbox entry of its ticket; null when it has none yet. */
  entry: string | null;
  /** Tasks before it in its lane or backlog, or of its tenant's that are ready. */
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
  /** The same input came too often in a row, and as many tasks of it are held as may be. */
  | { kind: 'repeated'; reason: string }
  /** It descends from this task, which was stopped. */
  | { kind: 'stopped'; above: string; status: TaskStatus }
  /** Its tenant accepts nothing. */
  | { kind: 'closed'; state: 'disabled' | 'ended' }
  /** It is input for a task that does not run, or takes none. */
  | { kind: 'refused'; why: 'not-running' | 'takes-no-input' };

/** Whether the same call may be accepted later; also after an error, where it may have been. */
export function mayComeAgain(answer: AcceptAnswer | Error): boolean {
  return answer instanceof Error || answer.kind === 'rate' || answer.kind === 'waiting';
}

/** One task's part in the reply of a script that accepts. */
export type AcceptReply = [kind: string, ...details: unknown[]];

/** The tickets that one call added to the outbox: their common entry, and each. */
export interface CallTickets {
  entry: string;
  /** By task. */
  tickets: ReadonlyMap<string, OutboxTicket>;
}

/** Reads the outbox entry in the reply of a script that accepts: an empty text when it added no ticket. */
export function ticketsOf(tenant: string, entry: string): CallTickets {
  const name = `${tenant}/${entry}`;
  return { entry: name, tickets: new Map(entry === '' ? [] : parseOutboxEntry(name).tickets.map((ticket) => [ticket.task, ticket])) };
}

/** Reads the part of one task in the reply of a script that accepts. */
export function readAcceptReply(id: string, [kind, ...details]: AcceptReply, depth: number, tickets: CallTickets): AcceptAnswer | Error {
  const [first, second, third, outcome] = details;
  if (kind === 'failed') return scriptFailure(String(first), `task ${id} could not be accepted`);
  const refusal = readRefusal(kind, first, second);
  if (refusal) return refusal;
  return {
    kind: 'accepted',
    id,
    status: first as TaskStatus,
    gate: second === '' ? null : (second as Gate | 'turn'),
    entry: tickets.tickets.has(id) ? tickets.entry : null,
    ahead: third as number,
    depth,
    outcome: outcome === undefined ? null : outcomeRecord(JSON.parse(outcome as string) as StoredOutcome),
  };
}

function readRefusal(kind: string, first: unknown, second: unknown): AcceptAnswer | null {
  if (kind === 'duplicate' || kind === 'conflict') return { kind, id: first as string };
  if (kind === 'rate') return { kind, retryAfterMs: first as number, scope: second as string };
  if (kind === 'stopped') return { kind, above: first as string, status: second as TaskStatus };
  if (kind === 'refused') return { kind, why: first as 'not-running' | 'takes-no-input' };
  if (kind === 'closed') return { kind, state: first as 'disabled' | 'ended' };
  if (kind === 'waiting') return { kind, waiting: first as number };
  return kind === 'repeated' ? { kind, reason: first as string } : null;
}
