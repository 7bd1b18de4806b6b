import type { EventStream } from '#shared/http/event-stream.ts';
import { readTask } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Task } from '#shared/tasks/task.ts';
import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { watchTask } from '#shared/events/watch-task.ts';
import { writeOutput } from './write-output.ts';

/** Longest between two looks, for when a hint was lost. */
const LOOK_MS = 2000;

export interface TaskEventsOptions {
  tenant: string;
  id: string;
  /** The entry that the reader saw last; null from the start. */
  after: string | null;
}

type StreamParts = Pick<Parts, 'ledger' | 'events' | 'redis' | 'keys'>;

/** Writes what a task does until it has ended or the reader is gone. */
export async function writeTaskEvents(parts: StreamParts, options: TaskEventsOptions, stream: EventStream): Promise<void> {
  const { tenant, id } = options;
  const watch = watchTask(parts.events, tenant, id, stream.signal);
  let { after } = options;
  let shown: TaskStatus | null = null;
  try {
    while (!stream.signal.aborted) {
      // The state before the output: what was written before the task ended is then shown before its end.
      const task = await readTask(parts.ledger, tenant, id);
      if (!task) return;
      const { status } = task.state;
      const hasEnded = isTerminal(status);
      if (!hasEnded && status !== shown) await stream.send('status', { status });
      after = await writeOutput(parts, { tenant, id, after }, stream);
      if (hasEnded) {
        await writeEnd(task, after, stream);
        return;
      }
      shown = status;
      await watch.next(LOOK_MS);
    }
  } finally {
    watch.stop();
  }
}

async function writeEnd({ state, output }: Task, after: string | null, stream: EventStream): Promise<void> {
  // The entries are kept for a while only, the record longer: then the whole comes at once.
  if (after === null && output !== null && output !== '') await stream.send('output', { attempt: state.attempt, seq: 0, text: output });
  await stream.send('status', { status: state.status });
  await stream.send('end', { status: state.status });
}
