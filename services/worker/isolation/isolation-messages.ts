import type { ClaimIsolation } from '#shared/ledger/index.ts';
import type { TicketData, TicketEnd } from '#shared/queue/index.ts';

/** To a process for suspects. */
export type ToIsolated =
  /** First: its name in records, and the variables that are not in its environment. */
  | { kind: 'open'; worker: string; variables: Record<string, string> }
  | { kind: 'run'; call: number; ticket: TicketData; isolation: Extract<ClaimIsolation, 'own' | 'shared'> }
  /** Hands back what runs, at the price of no attempt. */
  | { kind: 'drain' }
  /** Ends, once nothing runs. */
  | { kind: 'close' };

/** From a process for suspects. */
export type FromIsolated =
  | { kind: 'ended'; call: number; end: TicketEnd }
  /** A mistake of ours ended the handling of the ticket. */
  | { kind: 'broke'; call: number; message: string }
  | { kind: 'log'; line: string }
  /** A task waits for a time that may be near. */
  | { kind: 'waiting' };

/** Both ends are ours and of one version: that it is a message of theirs shows by its kind. */
export function isToIsolated(message: unknown): message is ToIsolated {
  return ['open', 'run', 'drain', 'close'].includes(kindOf(message));
}

export function isFromIsolated(message: unknown): message is FromIsolated {
  return ['ended', 'broke', 'log', 'waiting'].includes(kindOf(message));
}

function kindOf(message: unknown): string {
  return typeof message === 'object' && message !== null && 'kind' in message ? String(message.kind) : '';
}
