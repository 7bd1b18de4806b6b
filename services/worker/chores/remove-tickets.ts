import { TASK_QUEUES } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { readStatesOrErrors } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { ticketId, type TicketQueue } from '#shared/queue/index.ts';
import { isTerminal, type TaskState } from '#shared/tasks/index.ts';

/** BullMQ's states in which a ticket waits for a worker. */
const WAITING = ['delayed', 'prioritized', 'waiting'] as const;
const CHECKED = [...WAITING, 'failed'] as const;
/** Tickets read per queue and state in one round; the next round continues there. */
const BATCH = 500;

type Job = NonNullable<Awaited<ReturnType<TicketQueue['getJob']>>>;

/** Where the next round continues, by shard, queue and state: the number of tickets before. */
export type RemovalOffsets = Map<string, number>;

/**
 * Removes tickets that wait although their tasks have ended, or are gone with their tenant. Until its turn comes, which a paused queue
 * delays, such a ticket would count as work. It also removes failed tickets whose tasks continued with another one.
 */
export async function removeTickets(parts: Parts, offsets: RemovalOffsets): Promise<void> {
  for (const { shard, name, queue } of parts.queues.all()) {
    if (!TASK_QUEUES.some((each) => each === name)) continue;
    for (const state of CHECKED) {
      const place = `${shard}/${name}/${state}`;
      const from = offsets.get(place) ?? 0;
      const jobs = (await queue.getJobs([state], from, from + BATCH - 1, true)).filter((job) => Boolean(job));
      const removed = await removeNeedless(parts, jobs, state === 'failed' ? isReplaced : isOver);
      offsets.set(place, jobs.length < BATCH ? 0 : from + BATCH - removed);
      if (removed > 0) parts.log.debug({ queue: name, state, tickets: removed }, 'removed tickets of ended tasks');
    }
  }
}

type IsNeedless = (job: Job, state: TaskState | null) => boolean;

const isOver: IsNeedless = (_job, state) => state === null || isTerminal(state.status);

/** A ticket that failed with its task stays as long as the task may be retried. */
const isReplaced: IsNeedless = ({ id, data }, state) => state !== null && ticketId(data.task, state.ticket) !== id;

async function removeNeedless({ ledger }: Parts, jobs: readonly Job[], isNeedless: IsNeedless): Promise<number> {
  let removed = 0;
  for (const [tenant, own] of Map.groupBy(jobs, ({ data }) => data.tenant)) {
    const states = await readStatesOrErrors(
      ledger,
      tenant,
      own.map(({ data }) => data.task),
    );
    const needless = own.filter((job, position) => {
      const state = states[position] ?? null;
      // An unreadable state is not gone: another release may read it.
      return !(state instanceof MusterError) && isNeedless(job, state);
    });
    // A worker may have taken one meanwhile; it finds nothing to do.
    const answers = await Promise.allSettled(needless.map((job) => job.remove()));
    removed += answers.filter(({ status }) => status === 'fulfilled').length;
  }
  return removed;
}
