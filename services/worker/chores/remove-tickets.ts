import { TASK_QUEUES } from '#shared/config/settings.ts';
import { readTasks } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { TicketQueue } from '#shared/queue/queues.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';

/** BullMQ's states in which a ticket waits for a worker. */
const WAITING = ['delayed', 'prioritized', 'waiting'] as const;
/** Tickets looked at per queue and state in one round; the next round goes on from there. */
const BATCH = 500;

type Job = NonNullable<Awaited<ReturnType<TicketQueue['getJob']>>>;

/** Where the next round goes on, by shard, queue and state: how many tickets come before. */
export type RemovalPlaces = Map<string, number>;

/**
 * Removes tickets that wait although their tasks have ended, or are gone with their tenant. A worker would put each away as soon as it
 * comes up; one whose time is far off, or whose queue is paused, would stay until then, and be counted as work.
 */
export async function removeTickets(parts: Parts, places: RemovalPlaces): Promise<void> {
  for (const { shard, name, queue } of parts.queues.all()) {
    if (!TASK_QUEUES.some((each) => each === name)) continue;
    for (const state of WAITING) {
      const place = `${shard}/${name}/${state}`;
      const from = places.get(place) ?? 0;
      const jobs = (await queue.getJobs([state], from, from + BATCH - 1, true)).filter((job) => Boolean(job));
      const removed = await removeEnded(parts, jobs);
      places.set(place, jobs.length < BATCH ? 0 : from + BATCH - removed);
      if (removed > 0) parts.log.debug({ queue: name, state, tickets: removed }, 'removed tickets of tasks that have ended');
    }
  }
}

async function removeEnded({ ledger }: Parts, jobs: readonly Job[]): Promise<number> {
  let removed = 0;
  for (const [tenant, own] of Map.groupBy(jobs, ({ data }) => data.tenant)) {
    const tasks = await readTasks(
      ledger,
      tenant,
      own.map(({ data }) => data.task),
    );
    const needless = own.filter((_, position) => {
      const task = tasks[position];
      return !task || isTerminal(task.state.status);
    });
    // A worker may have taken one since; it finds that there is nothing to do.
    const answers = await Promise.allSettled(needless.map((job) => job.remove()));
    removed += answers.filter(({ status }) => status === 'fulfilled').length;
  }
  return removed;
}
