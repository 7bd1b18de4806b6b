import { TASK_QUEUES } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { readStatesOrErrors } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { ticketId, type TicketQueue } from '#shared/queue/index.ts';
import { isTerminal, type TaskState } from '#shared/tasks/index.ts';

/** BullMQ's states in which a ticket waits for a worker. */
const WAITING = ['delayed', 'prioritized', 'waiting'] as const;
const LOOKED_AT = [...WAITING, 'failed'] as const;
/** Tickets looked at per queue and state in one round; the next round goes on from there. */
const BATCH = 500;

type Job = NonNullable<Awaited<ReturnType<TicketQueue['getJob']>>>;

/** Where the next round goes on, by shard, queue and state: how many tickets come before. */
export type RemovalPlaces = Map<string, number>;

/**
 * Removes tickets that wait although their tasks have ended, or are gone with their tenant. A worker would put each away as soon as it
 * comes up; one whose time is far off, or whose queue is paused, would stay until then, and be counted as work. Failed ones go whose tasks
 * went on with another ticket.
 */
export async function removeTickets(parts: Parts, places: RemovalPlaces): Promise<void> {
  for (const { shard, name, queue } of parts.queues.all()) {
    if (!TASK_QUEUES.some((each) => each === name)) continue;
    for (const state of LOOKED_AT) {
      const place = `${shard}/${name}/${state}`;
      const from = places.get(place) ?? 0;
      const jobs = (await queue.getJobs([state], from, from + BATCH - 1, true)).filter((job) => Boolean(job));
      const removed = await removeNeedless(parts, jobs, state === 'failed' ? isReplaced : isOver);
      places.set(place, jobs.length < BATCH ? 0 : from + BATCH - removed);
      if (removed > 0) parts.log.debug({ queue: name, state, tickets: removed }, 'removed tickets without a use');
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
      // What cannot be read is not gone: another release may go on with it.
      return !(state instanceof MusterError) && isNeedless(job, state);
    });
    // A worker may have taken one since; it finds that there is nothing to do.
    const answers = await Promise.allSettled(needless.map((job) => job.remove()));
    removed += answers.filter(({ status }) => status === 'fulfilled').length;
  }
  return removed;
}
