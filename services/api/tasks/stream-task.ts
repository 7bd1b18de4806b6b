import { z } from 'zod';
import { type EventFeed, watchTask } from '#shared/events/index.ts';
import { type EventStream, route, type Route } from '#shared/http/index.ts';
import { type Ledger, readLog, readState, readTask, type StoredLogEntry } from '#shared/ledger/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { isTerminal, type TaskStatus } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { findState, taskPathSchema } from './find-tasks.ts';
import { taskStreamSchema } from './stream-events.ts';
import { parseStreamPlace, streamId, type StreamPlace, writeOutput } from './stream-output.ts';

export interface StreamPorts {
  readonly ledger: Ledger;
  readonly events: EventFeed;
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** The task that is streamed, and the place of its reader. */
interface Reading {
  readonly tenant: string;
  readonly id: string;
  readonly after: StreamPlace;
}

/** Longest between two reads, for when a hint was lost. */
const POLL_MS = 2000;
/** Entries of a log read at once. */
const PAGE = 200;

const placeSchema = z.string().optional().meta({ description: 'Id of the event after which to resume.' });

/**
 * `GET /v1/tasks/:id/stream`: the output as it is written, from the start or after the last event that the reader saw. `end` comes once,
 * and then the stream closes.
 */
export function streamTask(ports: StreamPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/stream',
    operationId: 'streamTask',
    summary: 'The output of a task while it is written',
    description:
      'Server-sent events, the last of which is `end`. Resumes after `Last-Event-ID` (or `?lastEventId=`). A later attempt starts over with its own number.',
    scope: 'read',
    errors: ['task.not-found'],
    media: 'text/event-stream',
    request: {
      params: taskPathSchema,
      headers: z.object({ 'last-event-id': placeSchema }),
      query: z.object({ lastEventId: placeSchema }),
    },
    responses: { 200: taskStreamSchema },
    handle: async ({ params, query, headers }, { tenant }) => {
      const after = parseStreamPlace(headers['last-event-id'] ?? query.lastEventId);
      await findState(ports.ledger, tenant, params.id);
      return { status: 200, events: (stream) => writeTaskEvents(ports, { tenant, id: params.id, after }, stream) };
    },
  });
}

/** Writes the events of a task until it has ended or the reader is gone. */
async function writeTaskEvents(ports: StreamPorts, { tenant, id, after: from }: Reading, stream: EventStream): Promise<void> {
  const watch = watchTask(ports.events, tenant, id, stream.signal);
  let after = from;
  let shown: TaskStatus | null = null;
  try {
    while (!stream.signal.aborted) {
      // The state before the output: what was written before the task ended is then shown before its end.
      const state = await readState(ports.ledger, tenant, id);
      if (!state) return;
      const { status } = state;
      const hasEnded = isTerminal(status);
      if (!hasEnded && status !== shown) await stream.send('status', { status });
      after = await writeNewOutput(ports, { tenant, id, after }, stream);
      // Entries from before the task's end are shown before its end.
      if (watch.mayHaveLogged() || hasEnded) after = await writeLog(ports, { tenant, id, after }, stream);
      if (hasEnded) return await writeEnd(ports, { tenant, id, after, status }, stream);
      shown = status;
      await watch.next(POLL_MS);
    }
  } finally {
    watch.stop();
  }
}

/** Writes the new output; returns the place that the reader has reached. */
async function writeNewOutput(ports: StreamPorts, { tenant, id, after }: Reading, stream: EventStream): Promise<StreamPlace> {
  const idOf = (entry: string): string => streamId({ output: entry, log: after.log });
  const output = await writeOutput(ports, { tenant, id, after: after.output, idOf }, stream);
  return { output, log: after.log };
}

/** Writes new entries of a task's log as `log` and `progress` events; returns the place that the reader has reached. */
async function writeLog(
  ports: Pick<StreamPorts, 'redis' | 'keys'>,
  { tenant, id, after }: Reading,
  stream: EventStream,
): Promise<StreamPlace> {
  let { log } = after;
  for (;;) {
    const entries = await readLog(ports, { tenant, id, after: log, limit: PAGE });
    for (const stored of entries) {
      if (stream.signal.aborted) return { ...after, log };
      log = stored.id;
      await stream.send(stored.entry.kind, logEventOf(stored), streamId({ output: after.output, log }));
    }
    if (entries.length < PAGE) return { ...after, log };
  }
}

function logEventOf({ at, entry }: StoredLogEntry): object {
  const common = { at: toIso(at), attempt: entry.attempt };
  if (entry.kind === 'progress') return { ...common, note: entry.note, percent: entry.percent };
  const fields: unknown = entry.fields === null ? null : JSON.parse(entry.fields);
  return { ...common, level: entry.level, text: entry.text, fields };
}

async function writeEnd(
  { ledger }: Pick<StreamPorts, 'ledger'>,
  { tenant, id, after, status }: Reading & { readonly status: TaskStatus },
  stream: EventStream,
): Promise<void> {
  // The entries are kept for a while only, the record longer: then all of the output comes at once.
  const task = after.output === null ? await readTask(ledger, tenant, id) : null;
  if (task?.output) await stream.send('output', { attempt: task.state.attempt, seq: 0, text: task.output });
  await stream.send('status', { status });
  await stream.send('end', { status });
}
