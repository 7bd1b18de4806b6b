import type { ClaimIsolation, TicketClaim } from '#shared/ledger/index.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';

/** To a process for suspects. */
export type ToIsolated =
  /** First: its name in records, and the variables that are not in its environment. */
  | { kind: 'open'; worker: string; variables: Record<string, string> }
  | { kind: 'run'; call: number; ticket: TicketData; how: TicketClaim; isolation: Extract<ClaimIsolation, 'own' | 'shared'> }
  /** Has runs with steps end before their next one. */
  | { kind: 'hand-over' }
  /** Returns what runs without spending an attempt. */
  | { kind: 'drain' }
  /** Ends, once nothing runs. */
  | { kind: 'close' };

/** From a process for suspects. */
export type FromIsolated =
  /** It is open, and takes tickets from now on. */
  | { kind: 'ready' }
  | { kind: 'ended'; call: number; result: TicketResult }
  /** A mistake of ours ended the execution of the ticket. */
  | { kind: 'broke'; call: number; message: string }
  | { kind: 'log'; line: string }
  /** A task waits for a time that may be near. */
  | { kind: 'waiting' };

/** Both ends are ours and of one version: the kind shows that it is such a message. */
export function isToIsolated(message: unknown): message is ToIsolated {
  return ['open', 'run', 'hand-over', 'drain', 'close'].includes(kindOf(message));
}

export function isFromIsolated(message: unknown): message is FromIsolated {
  return ['ready', 'ended', 'broke', 'log', 'waiting'].includes(kindOf(message));
}

function kindOf(message: unknown): string {
  return typeof message === 'object' && message !== null && 'kind' in message ? String(message.kind) : '';
}
