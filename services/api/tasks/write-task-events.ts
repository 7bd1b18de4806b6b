import type { EventStream } from '#shared/http/index.ts';
import { readState, readTask } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { isTerminal, type TaskStatus } from '#shared/tasks/index.ts';
import { watchTask } from '#shared/events/index.ts';
import { streamId, type StreamPlace } from './stream-place.ts';
import { writeLog } from './write-log.ts';
import { writeOutput } from './write-output.ts';

/** Longest between two looks, for when a hint was lost. */
const LOOK_MS = 2000;

export interface TaskEventsOptions {
  tenant: string;
  id: string;
  /** What the reader saw last. */
  after: StreamPlace;
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
      const state = await readState(parts.ledger, tenant, id);
      if (!state) return;
      const { status } = state;
      const hasEnded = isTerminal(status);
      if (!hasEnded && status !== shown) await stream.send('status', { status });
      const output = await writeNewOutput(parts, { tenant, id, after }, stream);
      const seen = { output, log: after.log };
      // What the task reported before it ended is shown before its end.
      after = watch.mayHaveLogged() || hasEnded ? await writeLog(parts, { tenant, id, after: seen }, stream) : seen;
      if (hasEnded) return await writeEnd(parts, { tenant, id, after, status }, stream);
      shown = status;
      await watch.next(LOOK_MS);
    }
  } finally {
    watch.stop();
  }
}

/** What the task wrote since; returns the entry that the reader saw last then. */
async function writeNewOutput(parts: StreamParts, { tenant, id, after }: TaskEventsOptions, stream: EventStream): Promise<string | null> {
  const idOf = (entry: string): string => streamId({ output: entry, log: after.log });
  return await writeOutput(parts, { tenant, id, after: after.output, idOf }, stream);
}

async function writeEnd(
  { ledger }: StreamParts,
  { tenant, id, after, status }: TaskEventsOptions & { status: TaskStatus },
  stream: EventStream,
): Promise<void> {
  // The entries are kept for a while only, the record longer: then all of the output comes at once.
  const task = after.output === null ? await readTask(ledger, tenant, id) : null;
  if (task?.output) await stream.send('output', { attempt: task.state.attempt, seq: 0, text: task.output });
  await stream.send('status', { status });
  await stream.send('end', { status });
}
