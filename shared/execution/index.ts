/**
 * One attempt from its ticket to its settlement: claim, run, classify, settle, report. `attempt/` is what belongs to one that runs,
 * `leases/` keeps what this process holds and receives stops and input for it.
 */
export { currentAttempt } from './attempt/current-attempt.ts';
export type { StopReason } from './attempt/running-attempt.ts';
export { type ExecuteTicketParts, acceptAttempt, executeTicket, resumeAttempt } from './execute-ticket.ts';
export { INTERRUPTIONS_KIND } from './decide-interruption.ts';
export type { Execution } from './execution.ts';
export { expireOfProcess, routeOfLoss } from './leases/expire-lease.ts';
export { LeaseKeeper } from './leases/lease-keeper.ts';
export { type SignalListener, listenForSignals } from './leases/signal-listener.ts';
export { tryToReleaseClaim } from './release-lost-claim.ts';
export { readLargeValue } from './journal/journal-values.ts';
export { retryFromStep } from './journal/retry-from-step.ts';
