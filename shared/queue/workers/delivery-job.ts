import type { Job } from 'bullmq';
import type { OutboundQueue } from '../queue-names.ts';
import type { Queues, TicketData, TicketQueue } from '../queues.ts';

/** The job of a delivery: it names the delivery, whose record is the truth. */
export interface DeliveryJob {
  tenant: string;
  task: string;
  /** `reply` or `callback`. */
  kind: string;
  /** From 0; each requested retry is a job of its own. */
  number: number;
}

/** The queue of a delivery, by its kind. */
export function deliveryQueue(kind: string): OutboundQueue {
  return kind === 'reply' ? 'replies' : 'deliveries';
}

/** Ended jobs kept per queue, for the board. */
const KEEP = 1000;

/** The job's id, the same from every process. Tenants' tasks have ids of their own, so it needs no tenant. */
function jobId({ task, kind, number }: DeliveryJob): string {
  return `${task}-${kind}-${number}`;
}

/** Reads what `ensureDeliveryJob` wrote. */
export function parseDeliveryJob({ id = '', name, data }: Pick<Job<TicketData>, 'id' | 'name' | 'data'>): DeliveryJob {
  return { tenant: data.tenant, task: data.task, kind: name, number: Number(id.split('-').at(-1)) };
}

/**
 * Puts the delivery's job into the queue where it is missing. `isDue`: a delayed job is due now.
 * Calling it again changes nothing. A job that ended before its delivery is replaced.
 */
export async function ensureDeliveryJob(queues: Queues, shard: number, job: DeliveryJob, isDue: boolean): Promise<void> {
  const queue = queues.get(shard, deliveryQueue(job.kind));
  const found = await add(queue, job);
  const state = await found.getState();
  if (state === 'completed' || state === 'failed') {
    await found.remove();
    await add(queue, job);
  } else if (state === 'delayed' && isDue) {
    await promote(found);
  }
}

/** Removes the job of a delivery that ended, unless a process runs it. */
export async function dropDeliveryJob(queues: Queues, shard: number, job: DeliveryJob): Promise<void> {
  await queues.get(shard, deliveryQueue(job.kind)).remove(jobId(job));
}

async function add(queue: TicketQueue, job: DeliveryJob): Promise<Job<TicketData>> {
  const data = { tenant: job.tenant, task: job.task };
  return await queue.add(job.kind, data, { jobId: jobId(job), removeOnComplete: { count: KEEP }, removeOnFail: { count: KEEP } });
}

async function promote(job: Job<TicketData>): Promise<void> {
  try {
    await job.promote();
  } catch (error) {
    // It became due meanwhile.
    if ((await job.getState()) === 'delayed') throw error;
  }
}
