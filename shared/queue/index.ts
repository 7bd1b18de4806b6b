/**
 * BullMQ and the way of a task to a worker: acceptance with its ticket, the queues and who takes from them, permits of the fleet's cap,
 * the clocks, and the reason for each wait. Only this folder knows BullMQ.
 */
export { acceptTask } from './accept/accept-task.ts';
export type { Accepted } from './accept/accept-task.ts';
export { assertBytes, assertContext, assertTimeout } from './accept/check-request.ts';
export type { AcceptRequest, Intake } from './accept/request.ts';
export { cancelTree } from './tickets/cancel-tree.ts';
export { ChoreWorker } from './workers/chore-worker.ts';
export { type JobSource, openJobSource } from './consumer/job-source.ts';
export { type DeliveryJob, deliveryQueue, dropDeliveryJob, ensureDeliveryJob } from './workers/delivery-job.ts';
export { type DeliveryEnd, DeliveryWorker, type DeliveryWorkerOptions } from './workers/delivery-worker.ts';
export { explainWait } from './why/explain-wait.ts';
export { findDeadQueues } from './queues.ts';
export { offerInput } from './accept/offer-input.ts';
export { readOwedTickets } from './tickets/ticket.ts';
export { FleetPermits, type FleetPermitsOptions, kindOf } from './permits/fleet-permits.ts';
export { nextRankOf } from './permits/ticket-rank.ts';
export { OUTBOUND_QUEUES, type OutboundQueue, QUEUE_NAMES, type QueueName, isQueueName, outboundSlots, slotsOf } from './queue-names.ts';
export { type Queues, type TicketData, type TicketQueue, openQueues } from './queues.ts';
export { reprioritizeTask } from './tickets/reissue.ts';
export { type RetryParts, retryTask } from './tickets/reissue.ts';
export { sessionLane } from './accept/build-task.ts';
export { TickClock } from './workers/tick-clock.ts';
export { parseTicketId, ticketOfState } from './tickets/ticket.ts';
export { TicketRelay } from './tickets/ticket-relay.ts';
export { type TicketEnd, TicketWorker } from './workers/ticket-worker.ts';
export { bullPriority, taskPriority, ticketId } from './tickets/ticket.ts';
export { WAIT_GATES, waitingSince } from './why/wait-reason.ts';
export { beat, forgetWorker, knownWorkers } from './worker-registry.ts';
export { WorkerWatch } from './worker-registry.ts';
