/**
 * BullMQ and the way of a task to a worker: acceptance with its ticket, the queues and who takes from them, permits of the fleet's cap,
 * the clocks, and the reason for each wait. Only this folder knows BullMQ.
 */
export { type Accepted, acceptTask } from './accept-task.ts';
export { assertBytes } from './assert-bytes.ts';
export { assertContext } from './assert-context.ts';
export { assertTimeout } from './assert-timeout.ts';
export type { AcceptRequest } from './build-task.ts';
export { cancelTree } from './cancel-tree.ts';
export { ChoreWorker } from './chore-worker.ts';
export { type JobSource, openJobSource } from './consumer/job-source.ts';
export { type DeliveryJob, deliveryQueue, dropDeliveryJob, ensureDeliveryJob } from './delivery-job.ts';
export { type DeliveryEnd, DeliveryWorker, type DeliveryWorkerOptions } from './delivery-worker.ts';
export { explainWait } from './explain-wait.ts';
export { findDeadQueues } from './find-dead-queues.ts';
export type { Intake } from './intake.ts';
export { offerInput } from './offer-input.ts';
export { readOwedTickets } from './owed-tickets.ts';
export { FleetPermits, type FleetPermitsOptions, kindOf } from './permits/fleet-permits.ts';
export { headOf } from './permits/ticket-head.ts';
export { OUTBOUND_QUEUES, type OutboundQueue, QUEUE_NAMES, type QueueName, isQueueName, outboundSlots, slotsOf } from './queue-names.ts';
export { type Queues, type TicketData, type TicketQueue, openQueues } from './queues.ts';
export { reprioritizeTask } from './reprioritize-task.ts';
export { type RetryParts, retryTask } from './retry-task.ts';
export { sessionLane } from './session-lane.ts';
export { TickClock } from './tick-clock.ts';
export { parseTicketId, ticketOfState } from './ticket-of-state.ts';
export { TicketRelay } from './ticket-relay.ts';
export { type TicketEnd, TicketWorker } from './ticket-worker.ts';
export { bullPriority, taskPriority, ticketId } from './ticket.ts';
export { WAIT_GATES, waitingSince } from './wait-reason.ts';
export { beat, forgetWorker, knownWorkers } from './workers/worker-registry.ts';
export { WorkerWatch } from './workers/worker-watch.ts';
