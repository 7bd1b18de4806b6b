import type { EventStream } from '#shared/http/index.ts';
import { readLog, type StoredLogEntry } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { toIso } from '#shared/time/index.ts';
import { streamId, type StreamPlace } from './stream-place.ts';

/** Entries read at once. */
const PAGE = 200;

export interface WriteLogOptions {
  tenant: string;
  id: string;
  after: StreamPlace;
}

/** Writes the entries of a task's log after the last one as `log` and `progress` events; returns what the reader saw last then. */
export async function writeLog(
  parts: Pick<Parts, 'redis' | 'keys'>,
  { tenant, id, after }: WriteLogOptions,
  stream: EventStream,
): Promise<StreamPlace> {
  let { log } = after;
  for (;;) {
    const entries = await readLog(parts, { tenant, id, after: log, limit: PAGE });
    for (const stored of entries) {
      if (stream.signal.aborted) return { ...after, log };
      log = stored.id;
      await stream.send(stored.entry.kind, eventOf(stored), streamId({ output: after.output, log }));
    }
    if (entries.length < PAGE) return { ...after, log };
  }
}

function eventOf({ at, entry }: StoredLogEntry): object {
  const common = { at: toIso(at), attempt: entry.attempt };
  if (entry.kind === 'progress') return { ...common, note: entry.note, percent: entry.percent };
  const fields: unknown = entry.fields === null ? null : JSON.parse(entry.fields);
  return { ...common, level: entry.level, text: entry.text, fields };
}
