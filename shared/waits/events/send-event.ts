import {
  answerRuns,
  type HeldTask,
  type Ledger,
  type NumberedEntry,
  readEntry,
  readHeldTasks,
  readNextHold,
  readStates,
} from '../../ledger/index.ts';
import { MusterError } from '../../errors/index.ts';
import { redisNow } from '../../redis/index.ts';
import { fieldsIn, lineFor, lineOf, linesBy, linesWith } from './event-line.ts';
import { closeEvent, dropOpenEvent, keepEvent, readEvent, type RunEvent, takeOpenEvent } from './kept-events.ts';

/** Runs that one script resumes. */
const PAGE = 100;

/**
 * Sends an event to the runs that wait for it, by priority and age, and keeps it for those that begin to wait within `events.keepMs`. An id that was
 * sent before is not sent again. Returns how many it resumed when it was sent. When this process dies on the way, a chore goes on. Errors:
 * request.too-large, limit.storage.
 */
export async function sendEvent(ledger: Ledger, tenant: string, event: RunEvent): Promise<{ resumed: number; isRepeat: boolean }> {
  ledger.stored.assertRoom(tenant);
  assertSmall(event.data, ledger.settings.events.maxBytes);
  const kept = await keepEvent(ledger, tenant, event);
  if (kept.kind === 'sent') return { resumed: kept.resumed, isRepeat: true };
  // What came first under this id is what is sent.
  const first = kept.kind === 'open' ? await readEvent(ledger, tenant, event.id) : event;
  return { resumed: await finishSending(ledger, tenant, first ?? event), isRepeat: kept.kind === 'open' };
}

function assertSmall(data: unknown, maxBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(data));
  if (bytes <= maxBytes) return;
  throw new MusterError(
    'request.too-large',
    `The data of the event has ${bytes} bytes of JSON, and may have ${maxBytes} (events.maxBytes)`,
  );
}

/** Goes on with an event of a shard that nobody has sent to its end since `before`, ms by Redis's clock. Returns its id; null for none. */
export async function resumeSending(ledger: Ledger, shard: number, times: { before: number; now: number }): Promise<string | null> {
  const open = await takeOpenEvent(ledger, shard, times);
  if (open === null) return null;
  const event = await readEvent(ledger, open.tenant, open.id);
  if (event) await finishSending(ledger, open.tenant, event);
  else await dropOpenEvent(ledger, open);
  return open.id;
}

async function finishSending(ledger: Ledger, tenant: string, event: RunEvent): Promise<number> {
  const lines = await linesOf(ledger, tenant, event);
  if (event.deliver === 'one') await resumeOne(ledger, tenant, { event, lines });
  else for (const line of lines) await resumeAll(ledger, tenant, { event, line });
  return await closeEvent(ledger, tenant, event);
}

/** The lines whose runs wait for this event, perhaps some in which nobody stands. */
async function linesOf(ledger: Ledger, tenant: string, event: RunEvent): Promise<string[]> {
  const lines = [lineOf(event.name, {})];
  const prefix = linesWith(event.name);
  let after: string | undefined;
  for (;;) {
    const line = await readNextHold(ledger, tenant, 'event', { prefix, after });
    if (line === null) return lines;
    const fields = fieldsIn(line);
    const own = lineFor(event, fields);
    if (own !== null) lines.push(own);
    after = linesBy(event.name, fields);
  }
}

async function resumeAll(ledger: Ledger, tenant: string, { event, line }: { event: RunEvent; line: string }): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const held = await readHeldTasks(ledger, tenant, { gate: 'event', what: line }, { after, max: PAGE });
    await resumeRuns(ledger, tenant, { event, held });
    if (held.length < PAGE) return;
    after = held.at(-1)?.place;
  }
}

/** Resumes the first run of all lines that takes the event. */
async function resumeOne(ledger: Ledger, tenant: string, { event, lines }: { event: RunEvent; lines: readonly string[] }): Promise<void> {
  const passed = new Map<string, string>();
  for (;;) {
    const heads = await Promise.all(
      lines.map(async (line) => {
        const [head] = await readHeldTasks(ledger, tenant, { gate: 'event', what: line }, { after: passed.get(line), max: 1 });
        return head ? [{ line, ...head }] : [];
      }),
    );
    const [first] = heads.flat().toSorted((one, other) => (one.place < other.place ? -1 : 1));
    if (!first || (await resumeRuns(ledger, tenant, { event, held: [first] })) > 0) return;
    // A chore, or the same event sent twice at once, has given it away.
    if ((await readEvent(ledger, tenant, event.id))?.isTaken !== false) return;
    passed.set(first.line, first.place);
  }
}

/** Returns how many went on. */
async function resumeRuns(
  ledger: Ledger,
  tenant: string,
  { event, held }: { event: RunEvent; held: readonly HeldTask[] },
): Promise<number> {
  const ids = held.map(({ id }) => id);
  const states = await readStates(ledger, tenant, ids);
  const entries = await Promise.all(
    states.map(async (state, at) =>
      state?.suspended ? await readEntry(ledger, { tenant, id: ids[at] ?? '' }, state.suspended.entry) : null,
    ),
  );
  const now = await redisNow(ledger.redis);
  const answers = entries.flatMap((entry, at) => {
    const isWaiting = entry?.kind === 'event' && entry.status === 'waiting';
    return isWaiting ? [{ id: ids[at] ?? '', entry: withEvent(entry, event, now) }] : [];
  });
  const done = await answerRuns(ledger, tenant, answers, event.id);
  return done.filter(({ kind }) => kind === 'promoted').length;
}

/** The entry of a run that got what it waited for. */
export function withEvent(entry: NumberedEntry, { id, name, data, shownId }: RunEvent, now: number): NumberedEntry {
  return { ...entry, status: 'completed', endedAt: now, value: JSON.stringify({ name, data, id: shownId ?? id }) };
}
