/**
 * The only writer of tasks in Redis. Each transition is one script: accept, grant, claim, settle, cancel, expire, retry. Reads of
 * records, lists, lanes and output stand beside them.
 */
export type { AcceptAnswer, AcceptedAnswer } from './accept-answer.ts';
export { acceptMessage } from './accept-message.ts';
export { appendOutput } from './append-output.ts';
export { type AttemptRef, leaseMember, parseLease } from './attempt-ref.ts';
export { type CancelAnswer, cancelTask } from './cancel-task.ts';
export { type PriorityAnswer, changePriority } from './change-priority.ts';
export { type ClaimAnswer, type ClaimIsolation, claimTask } from './claim-task.ts';
export { type DueTask, lookAtDue, promoteDue } from './due/due-tasks.ts';
export { type EndedTask, forgetEnded, listEnded, listEndedBefore } from './ended-tasks.ts';
export { expireDeadline } from './expire-deadline.ts';
export { type ExpireAnswer, type Loss, expireLease } from './expire-lease.ts';
export type { Verdict } from './follow-verdict.ts';
export { type IsOld, forgetOldTasks } from './forget-old-tasks.ts';
export { forgetTask } from './forget-task.ts';
export { readHeads } from './heads/read-heads.ts';
export { type SharedPlace, readSharedPlaces } from './lanes/read-shared-places.ts';
export { type Ledger, createLedger } from './ledger.ts';
export { type TaskFilter, idAt, listTasks } from './list-tasks.ts';
export { type Lookup, lookupName, lookupValue, readLookup, readLookupAfter } from './lookups/lookup.ts';
export { readBlame } from './losses/blame.ts';
export type { NewTask } from './new-task.ts';
export { type PressureLevel, listPressed, notePressure } from './note-pressure.ts';
export { offerMessage } from './offer-message.ts';
export { type OwedTicket, outboxEntry, parseOutboxEntry } from './outbox-entry.ts';
export { parseFullState, parseState } from './parse-state.ts';
export { parseWorkerSignal } from './parse-worker-signal.ts';
export { promoteBacklog } from './promote-backlog.ts';
export { type TakenInput, readInputs } from './read-inputs.ts';
export { type Lane, type LaneIds, readLane, readLaneIds } from './read-lane.ts';
export { readState, readStates, readStatesOrErrors } from './read-states.ts';
export { readAttempts, readTask, readTasks } from './read-tasks.ts';
export { type RedriveAnswer, redriveTask } from './redrive-task.ts';
export { reissueTicket } from './reissue-ticket.ts';
export { type Renewal, renewLeases } from './renew-leases.ts';
export { type SettleAnswer, settleAttempt } from './settle-attempt.ts';
export { isShort, parseShort } from './short-state.ts';
export { measureKey, measureTenant } from './storage/measure-tenant.ts';
export { takeInput } from './take-input.ts';
export { type TaskPlace, laneOfTask } from './task-keys.ts';
export { appendLog } from './task-log/append-log.ts';
export { LOG_LEVELS, type LogEntry, type ProgressEntry } from './task-log/log-entry.ts';
export { type StoredLogEntry, readLog, readProgress } from './task-log/read-log.ts';
export { lookupsFor, parentLookup, sessionLookup } from './task-lookups.ts';
export { tenantsWithTasks } from './tenants-with-tasks.ts';
export { workerChannel } from './worker-channel.ts';
