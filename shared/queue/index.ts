/**
 * BullMQ and the path of a task to a worker: acceptance (`accept`), its ticket (`tickets`), the workers of each queue (`workers` on
 * `consumer`), the slots that claim tasks (`slots`), the workers' records (`registry`), what is done about too much work
 * (`pressure`), the kinds of what tasks wait at (`gates`), and the reason for each wait (`why`). Only this folder knows BullMQ.
 */
export { type Accepted, acceptTask } from './accept/accept-task.ts';
export { acceptTasks } from './accept/accept-tasks.ts';
export { assertCallersSource, idempotencyKeySchema, idempotencyOf } from './accept/callers-request.ts';
export { sessionLane } from './accept/task-lanes.ts';
export { assertBytes, assertContext, assertTimeout, assertWithin } from './accept/check-request.ts';
export { describeChain } from './accept/join-tree.ts';
export { offerInput } from './accept/offer-input.ts';
export type { AcceptRequest, Intake } from './accept/request.ts';
export { type JobSource, openJobSource } from './consumer/job-source.ts';
export { countByQueue, type QueueWaits } from './load/count-by-queue.ts';
export { LoadReader } from './load/load-reader.ts';
export { type Load, type LoadPorts, readLoad } from './load/read-load.ts';
export { WAIT_KINDS, waitKindOf } from './load/wait-kind.ts';
export type { SlotPolicy } from './slots/slot-policy.ts';
export type { HandleTicket } from './slots/run-ticket.ts';
export { SlotWorker } from './slots/slot-worker.ts';
export { type TicketResult, isLeft } from './slots/ticket-result.ts';
export { readFleetPressure, updateFleetPressure } from './pressure/fleet-pressure.ts';
export { monitorOf } from './pressure/pressure-monitor.ts';
export { type Pressure, describeLoad, fleetBound } from './pressure/signal.ts';
export {
  OUTBOUND_QUEUES,
  type OutboundQueue,
  QUEUE_NAMES,
  type QueueName,
  isQueueName,
  outboundSlots,
  planSlots,
  slotsOf,
} from './queue-names.ts';
export { ChoreJobs, restartChoreJobs } from './chores/chore-jobs.ts';
export { type ChoreReport, readChores } from './chores/chore-records.ts';
export { ChoreRunner } from './chores/chore-runner.ts';
export { handlersFor } from './chores/chore-handlers.ts';
export type { ChoreHandlers } from './chores/chores.ts';
export {
  type Queues,
  type TicketData,
  type TicketNeeds,
  type TicketQueue,
  findDeadShards,
  findUnopenedQueues,
  openQueues,
} from './queues.ts';
export { Heartbeat, type HeartbeatOptions, type WorkerActivity } from './registry/heartbeat.ts';
export { LastingProblems } from './registry/lasting-problems.ts';
export { OfferedSlots, slotsFor, takesFrom } from './registry/offered-slots.ts';
export { loadOf } from './accept/log-accepted.ts';
export { claimConfiguration } from './registry/configurations.ts';
export { AGENTS_KNOWN_MS, ForeignAgents, isAgentNew, noteAgents, versionsOf } from './registry/foreign-agents.ts';
export {
  beatProcess,
  forgetProcesses,
  listProcesses,
  PROCESS_BEAT_MS,
  type ProcessIdentity,
  type ProcessRecord,
  removeProcess,
} from './registry/process-registry.ts';
export { type Snapshot, addSnapshot, readSnapshots } from './registry/snapshots.ts';
export { type LoopBlocks, NO_BLOCKS } from './registry/worker-report.ts';
export {
  type RegistryPorts,
  WORKER_STATUSES,
  type WorkerRecord,
  hasOtherWorker,
  listWorkers,
  parseDrainSignal,
  requestDrain,
} from './registry/worker-registry.ts';
export { readScaling } from './registry/worker-groups.ts';
export { listBusyWorkers, readBusyWorker } from './registry/busy-workers.ts';
export { readUnserved } from './registry/unserved-queues.ts';
export { type FleetNotice, watchWorkersOnce, type WatchWorkersPorts } from './registry/worker-watch.ts';
export { activeJobs, countActive } from './tickets/active-jobs.ts';
export { CancelRelay } from './tickets/cancel-relay.ts';
export { applyClosedQueues, isHeldForWorker } from './tickets/closed-queues.ts';
export { cancelTree, continueCancel } from './tickets/cancel-tree.ts';
export { type RetryParts, reprioritizeTask, retryTask } from './tickets/change-waiting-task.ts';
export { makeRoom } from './tickets/make-room.ts';
export { oldestTicketAt } from './tickets/oldest-ticket.ts';
export { findLedgerJob, readyJobs, readyJobsOf } from './tickets/ready-job.ts';
export { TicketRelay } from './tickets/ticket-relay.ts';
export { bullJobId, readOwedTickets, taskPriority, ticketId, ticketOfState } from './tickets/ticket.ts';
export { helpsAt, kindOf } from './gates/gate-kinds.ts';
export { queueKinds } from './gates/queue-kinds.ts';
export { explainHold } from './why/standing.ts';
export { explainWait, type WaitExplanation } from './why/explain-wait.ts';
export { waitingSince, type WaitReason } from './why/wait-reason.ts';
export { type DeliveryJob, deliveryQueue, dropDeliveryJob, ensureDeliveryJob } from './workers/delivery-job.ts';
export { type DeliveryEnd, DeliveryWorker, type DeliveryWorkerOptions } from './workers/delivery-worker.ts';
export { requestTick, shardOfTick, TickClock, tickOf } from './workers/tick-clock.ts';
