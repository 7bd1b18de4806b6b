/**
 * The only writer of tasks in Redis. Each transition is one script: accept, grant, claim, settle, cancel, expire, retry. Reads of
 * records, lists, lanes and output stand beside them.
 */
export type { AcceptAnswer, AcceptedAnswer } from './accept/accept-answer.ts';
export { acceptNewTask, acceptNewTasks, durably, offerMessage } from './accept/accept-task.ts';
export type { MessageArrival, NewTask, RepeatRule } from './accept/new-task.ts';
export { type PassedSla, breachSla, listPassedSlas } from './grants/breach-sla.ts';
export { releaseObjects } from './archive/restore-parts.ts';
export { TaskArchiving } from './archive/task-archiving.ts';
export {
  type CancelAnswer,
  type NewPriority,
  type PriorityAnswer,
  type ReopenAnswer,
  cancelSubTask,
  cancelTask,
  changePriority,
  expireDeadline,
  reopenTask,
} from './change-task.ts';
export {
  countDescendant,
  type Descendant,
  countTokens,
  cutTree,
  liftCut,
  readCut,
  readTokens,
  type TreeRoot,
  uncountDescendant,
} from './accept/task-tree.ts';
export { type OpenCancel, closeCancel, takeOpenCancel } from './settle/open-cancels.ts';
export { failuresKind, forgetFailures, releaseAll } from './settle/agent-failures.ts';
export { assertAgentStarts, readAgentHolds, releaseIfResumed, resumeAgent } from './settle/agent-starts.ts';
export { pauseAgent, pauseKind } from './settle/paused-agents.ts';
export { beginAttempt } from './claim/begin-attempt.ts';
export { readBlame } from './claim/blame.ts';
export { type AdoptAnswer, adoptAttempt } from './claim/adopt-attempt.ts';
export { type ClaimAnswer, type ClaimIsolation, type TicketClaim, claimTask, reviewTask } from './claim/claim-task.ts';
export { type AttemptRef, type Renewal, leaseMember, parseLease, parseWorkerSignal, renewLeases } from './claim/leases.ts';
export { settleExpired } from './settle/settle-expired.ts';
export { readReportedUsage, type RunningUsage, reportUsage } from './claim/report-usage.ts';
export {
  claimForSlots,
  type DrawnFate,
  type SlotAnswer,
  type SlotClaim,
  type SlotPool,
  type TakenTicket,
} from './claim/claim-for-slots.ts';
export { appendJournal } from './journal/append-journal.ts';
export { askWhileRunning } from './journal/ask-people.ts';
export {
  type JournalEntry,
  type JournalError,
  type JournalKind,
  type NumberedEntry,
  JOURNAL_KINDS,
  JOURNAL_STATUSES,
  assertOpen,
  isOpenCall,
} from './journal/entry.ts';
export { addUsage } from './journal/add-usage.ts';
export { keepCheckpoint, readCheckpoint } from './journal/checkpoint.ts';
export { copyJournal, dropJournal } from './journal/copy-journal.ts';
export {
  type Journal,
  type JournalProgress,
  noteReplay,
  openJournal,
  readEntry,
  readHadEvents,
  readJournal,
  readJournalProgress,
} from './journal/read-journal.ts';
export { type Delegation, noteDelegation, noteLater, readDelegation, readLater } from './journal/delegation.ts';
export { divideCap } from './claim/divide-cap.ts';
export { countAttempts, type FleetCap, fleetCap } from './claim/fleet-cap.ts';
export { type TakenInput, readInputs, takeInput } from './claim/take-input.ts';
export { parseKnownState, parseState } from './codec/state.ts';
export { type EndedTask, type IsOld, acknowledgeEnded, listEnded, listEndedBefore, removeOldTasks, removeTask } from './ended-tasks.ts';
export { type OutboxTicket, outboxEntry, parseOutboxEntry } from './grants/outbox.ts';
export { adoptWindow } from './grants/adopt-window.ts';
export { FleetOrder, type OrderedTask } from './order/fleet-order.ts';
export { type Gate, type GatedTask, type GateLimits, NO_LIMITS } from './order/gated-task.ts';
export { Gates } from './order/gates.ts';
export { SortedLine } from './order/sorted-line.ts';
export { reissueTicket, repairJobs } from './grants/repair-tickets.ts';
export { backlogPlace } from './grants/standing.ts';
export type { IssuedTicket } from './grants/tickets.ts';
export { capsOf } from './context.ts';
export { applyLimits, findLimited, RunningTasks } from './grants/apply-limits.ts';
export { countDue, type DueTask, readDue } from './grants/due-times.ts';
export { answerCall } from './grants/answer-calls.ts';
export { answerRuns, promoteDue, yieldLanes } from './grants/promote-tasks.ts';
export {
  type HoldNotice,
  holdTask,
  parseNotice,
  countAllHeldByGate,
  countHeldByGate,
  listHoldHeads,
  readFirstPlaces,
  releaseFirstHeld,
} from './grants/hold-task.ts';
export { type HeldTask, readHeldTasks, readNextHold } from './grants/held-lines.ts';
export { countHeld, countHeldBefore, listHolds, releaseHeld, releaseHeldWhere, releaseUncaused } from './grants/release-held.ts';
export { repeatsKind } from './grants/repeats.ts';
export { type Preemption, preemptTasks } from './grants/preempt-tasks.ts';
export { type GateKind, HOLD_ORDER, type HoldKind, holdKind, type HoldReport } from './gate-kind.ts';
export { type Ledger, createLedger } from './ledger.ts';
export { isUntrustedBy } from './codec/body.ts';
export { isUntrusted } from './read/find-untrusted.ts';
export { idAt } from './read/id-at.ts';
export {
  type Lookup,
  type LookupFilter,
  lookupName,
  lookupValue,
  LOOKUP_NAMES,
  lookupNames,
  type LookupProperty,
  lookupsFor,
  parentLookup,
  readLookup,
  readLookupAfter,
  sessionLookup,
} from './read/lookups.ts';
export { type Lane, type LaneIds, type SharedPlace, readLane, readLaneIds, readSharedPlaces } from './read/read-lanes.ts';
export {
  readHeads,
  readOpenings,
  readState,
  readStateTogether,
  readStates,
  readStatesOrErrors,
  type TaskHead,
  type TaskOpening,
} from './read/read-states.ts';
export { type RunningTask, listRunning } from './read/list-running.ts';
export { countReady, countReadyUpTo, listReady, listTenantReady, type ReadyTicket } from './read/list-ready.ts';
export { type Level, readLevels, type ShardLevels } from './read/read-levels.ts';
export { countReadyBefore, readTurn, type Turn } from './read/read-turns.ts';
export { frontOf } from './read/turn-order.ts';
export { readAttempts, readBody, readTask, readTaskRow, readTaskRows, readTasks } from './read/read-tasks.ts';
export {
  LOG_LEVELS,
  type LogEntry,
  type ProgressEntry,
  type StoredLogEntry,
  appendLog,
  appendOutput,
  shortenOutput,
  readLog,
  readLastLine,
  readProgress,
  readAttemptOutput,
} from './read/run-log.ts';
export { FACETS, type FacetName, countFacets } from './search/count-facets.ts';
export { type EndedGroup, readEndedGroups } from './search/ended-groups.ts';
export { type IndexCursor, indexEnds, startIndexing } from './search/index-ends.ts';
export { OPEN_STATUSES } from './search/choose-lookups.ts';
export { type TaskSearch, listTasks, spanOf } from './search/list-tasks.ts';
export { hasTexts, type TaskFilter, workerFits } from './search/task-filter.ts';
export { type TaskPlace, laneOfAgent, laneOfTask } from './context.ts';
export {
  type AttemptEnd,
  attemptStatus,
  type Completion,
  errorOf,
  type Failure,
  type Interruption,
  type RunWait,
  turnedBackBy,
} from './settle/attempt-end.ts';
export { assertMaySuspend, countSuspendedVersions } from './settle/suspended-runs.ts';
export { closeWait, type OpenWait, takeOpenWait } from './settle/watched-waits.ts';
export { copyTasks } from './restore/copy-tasks.ts';
export { giveTasks, writeParts } from './restore/restore-tasks.ts';
export { settleAttempt } from './settle/settle-attempt.ts';
export type { Transition } from './settle/transition.ts';
export {
  type PressureLevel,
  type PressureBound,
  type PressureReading,
  countRunning,
  listPressed,
  readPressedTenants,
  readDemand,
  readDepth,
  tenantsWithTasks,
  updatePressure,
} from './tenants/depth.ts';
export { measureKey, measureTenant } from './tenants/storage.ts';
