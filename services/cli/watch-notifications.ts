import type { EventSourceMessage } from 'eventsource-parser';
import { wait } from '#shared/time/index.ts';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';
import { notificationLine, notificationSchema } from './notification-line.ts';
import { problemOfNetwork } from './problem-of-network.ts';
import { readEvents } from './read-events.ts';
import type { RunContext } from './run-context.ts';

export interface WatchOptions {
  kinds?: string;
  json?: boolean;
}

/** Without a word from the server for so long, it is given up. */
const PATIENCE_MS = 60_000;
/** A stream this quiet is taken for dead and opened again; the server says something more often. */
const QUIET_MS = 60_000;
const PAUSE_MS = 500;

/** How far the reader is. */
interface Place {
  lastEventId: string | undefined;
  heardAt: number;
}

/**
 * `muster watch`: a line per notification, until it is interrupted. A cut stream is taken up where it broke off. Rejects with a
 * `CliProblem`: `unreachable` after a minute without an answer, else what the server refused.
 */
export async function watchNotifications(options: WatchOptions, context: RunContext): Promise<void> {
  const place: Place = { lastEventId: undefined, heardAt: performance.now() };
  for (;;) {
    try {
      await readOnce(options, context, place);
    } catch (error) {
      const problem = error instanceof CliProblem ? error : problemOfNetwork(error, 'its address');
      const isOver = performance.now() - place.heardAt >= PATIENCE_MS;
      if (problem.exitCode !== EXIT.unreachable || isOver) throw problem;
    }
    await wait(PAUSE_MS);
  }
}

/** One connection, until the server ends it. */
async function readOnce(options: WatchOptions, context: RunContext, place: Place): Promise<void> {
  const connection = new AbortController();
  const silence = setTimeout(() => connection.abort(), QUIET_MS);
  const heard = (): void => {
    place.heardAt = performance.now();
    silence.refresh();
  };
  const query = options.kinds === undefined ? '' : `?${new URLSearchParams({ kinds: options.kinds }).toString()}`;
  try {
    const body = await context.connect().stream(`/v1/notifications/stream${query}`, place.lastEventId, connection.signal);
    for await (const event of readEvents(body, heard)) {
      show(event, options, context);
      if (event.id !== undefined) place.lastEventId = event.id;
    }
  } finally {
    clearTimeout(silence);
    connection.abort();
  }
}

function show({ event, data }: EventSourceMessage, { json }: WatchOptions, { terminal }: RunContext): void {
  if (event === 'gap') terminal.note('Some notifications are missing: the stream does not go back so far. The list of runs has them.');
  if (event !== 'notification') return;
  terminal.line(json === true ? data : notificationLine(notificationSchema.parse(JSON.parse(data))));
}
