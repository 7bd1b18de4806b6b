import type { QueueMode } from '../config/index.ts';
import { type LaneIds, type Ledger, readLaneIds, readTaskRows, idAt, lookupName, lookupValue } from '../ledger/index.ts';
import {
  type LastTask,
  lastTaskOf,
  originOf,
  readLastIds,
  recentSessions,
  type SessionPlace,
  type SessionPlaces,
  withSenders,
} from './last-task.ts';
import { sessionLane } from '../queue/index.ts';
import { hasAttempt, type Task } from '../tasks/index.ts';
import { chooseMode, DEFAULT_SURFACE, type ModeSource } from './routing.ts';
import { readChoices, type SessionChoices } from './session-store.ts';
import { waitingLine, type SessionWaiting } from './describe-session.ts';

/** A session in a list. */
export interface SessionSummary {
  id: string;
  mode: QueueMode;
  modeSource: ModeSource;
  surface: string;
  /** Where its newest task came from: a surface of chat, or the task's source. */
  origin: string;
  lastTask: LastTask | null;
  holder: { taskId: string; startedAt: number | null; worker: string | null } | null;
  /** The next few. */
  waiting: SessionWaiting[];
  waitingTotal: number;
}

interface SessionPage {
  items: SessionSummary[];
  /** Hand it in as `after` for the next page; null at the end. */
  next: string | null;
}

export interface ListSessionsOptions {
  limit: number;
  /** `next` of the page before. */
  after?: string | undefined;
  /** Only those in which something runs or waits. */
  active?: boolean;
  /** Only those whose id, or the sender of whose newest task, holds this text, in any case. */
  q?: string | undefined;
  /** Only those whose newest task came from there: a surface of chat, or a source. */
  origin?: string | undefined;
  /** `activity`: the one with the newest task first. By id otherwise. */
  sort?: 'id' | 'activity';
}

/** Sessions, or tasks in the order of activity, that are read together at first, and then. */
const BATCH = 100;
const MAX_BATCH = 500;
/** Waiting tasks that each session of a list shows; its own record shows more. */
const SHOWN = 10;

/** Sessions of a tenant that have tasks. A page may hold fewer than `limit` and still have a `next`. */
export async function listSessions(ledger: Ledger, tenant: string, options: ListSessionsOptions): Promise<SessionPage> {
  const { found, next } = await findSessions(ledger, tenant, options);
  return { items: await describe(ledger, tenant, found), next };
}

/** A session and the ids of the tasks in its lane. */
interface Found extends LaneIds, SessionPlace {
  choices: SessionChoices;
}

async function findSessions(
  ledger: Ledger,
  tenant: string,
  options: ListSessionsOptions,
): Promise<{ found: Found[]; next: string | null }> {
  const { limit, after, sort } = options;
  const found: Found[] = [];
  const [read, first] = sort === 'activity' ? [recentSessions, BATCH] : [sessionsById, batchOf(options)];
  const { maxScanned, maxMs } = ledger.settings.search;
  const endMs = performance.now() + maxMs;
  let [cursor, scanned, batch] = [after ?? null, 0, first];
  do {
    const { places, next } = await read(ledger, tenant, cursor, batch);
    const fitting = await readFitting(ledger, tenant, places, options);
    const taken = fitting.slice(0, limit - found.length);
    found.push(...taken);
    if (taken.length < fitting.length) return { found, next: taken.at(-1)?.cursor ?? null };
    cursor = next;
    scanned += batch;
    batch = MAX_BATCH;
  } while (cursor !== null && found.length < limit && scanned < maxScanned && performance.now() < endMs);
  return { found, next: cursor };
}

/** Pages without a filter hold what they read. */
function batchOf({ limit, active, q, origin }: ListSessionsOptions): number {
  return active || q !== undefined || origin !== undefined ? BATCH : limit;
}

async function readFitting(
  ledger: Ledger,
  tenant: string,
  places: readonly SessionPlace[],
  options: ListSessionsOptions,
): Promise<Found[]> {
  const { active, q = '', origin, sort } = options;
  // A page by activity was made of the newest tasks.
  const hasSenders = sort === 'activity' || (q === '' && origin === undefined);
  const named = (hasSenders ? places : await withSenders(ledger, tenant, places)).filter((place) => holdsText(place, q.toLowerCase()));
  // All of them at once, so that the connection sends them together.
  const seen = await Promise.all(named.map((place) => readFound(ledger, tenant, place)));
  return seen.filter((each) => (!active || isActive(each)) && (origin === undefined || origin === placeOrigin(each)));
}

function holdsText({ id, user }: SessionPlace, text: string): boolean {
  return id.toLowerCase().includes(text) || user?.toLowerCase().includes(text) === true;
}

function placeOrigin({ source, choices }: Found): string {
  return originOf(source, choices.surface ?? DEFAULT_SURFACE);
}

async function readFound(ledger: Ledger, tenant: string, place: SessionPlace): Promise<Found> {
  const { id } = place;
  const [choices, lane] = await Promise.all([readChoices(ledger, tenant, id), readLaneIds(ledger, tenant, sessionLane(id), SHOWN)]);
  return { ...place, choices, ...lane };
}

function isActive({ held, waitingTotal }: Found): boolean {
  return held.size > 0 || waitingTotal > 0;
}

async function describe(ledger: Ledger, tenant: string, found: readonly Found[]): Promise<SessionSummary[]> {
  const lastIds = await readLastIds(
    ledger,
    tenant,
    found.map(({ id }) => id),
  );
  const ids = [...new Set(found.flatMap(({ id, held, waiting }) => [...held.keys(), ...waiting, ...(lastIds.get(id) ?? [])]))];
  const tasks = new Map((await readTaskRows(ledger, tenant, ids)).flatMap((task) => (task ? [[task.body.id, task] as const] : [])));
  const known = (wanted: Iterable<string>): Task[] => [...wanted].flatMap((id) => tasks.get(id) ?? []);
  return found.map(({ id, choices, held, waiting, waitingTotal }) => {
    const surface = choices.surface ?? DEFAULT_SURFACE;
    const { mode, source } = chooseMode(ledger.settings, { inline: null, choices, surface });
    const holders = known(held.keys());
    const [holder] = holders;
    const [last = null] = known(lastIds.get(id) ?? []);
    return {
      id,
      mode,
      modeSource: source,
      surface,
      origin: originOf(last?.body.source, surface),
      lastTask: last && lastTaskOf(last),
      holder: holder ? summaryOf(holder) : null,
      waiting: waitingLine(holders, known(waiting)),
      waitingTotal,
    };
  });
}

function summaryOf({ body, state }: Task): SessionSummary['holder'] {
  const isTaken = hasAttempt(state.status);
  return { taskId: body.id, startedAt: isTaken ? (state.startedAt ?? null) : null, worker: isTaken ? (state.worker ?? null) : null };
}

/** Begins the index's entries of tasks with a session; the session's id follows. */
const PREFIX = 'session=';
/** `/` and the task's id. */
const SUFFIX_CHARACTERS = 27;
/** Members read at once: of a session with one task, each is another one. */
const READ = 50;
/** Bound of the difference between the clocks of processes that make ids. */
const AHEAD_MS = 86_400_000;

/**
 * At most `limit` ids of sessions that have tasks, in the order of the index. Each step skips the rest of a session's tasks, so the cost
 * grows with sessions and not with tasks.
 */
async function sessionIdsAfter(ledger: Ledger, tenant: string, after: string | null, limit: number): Promise<string[]> {
  const { index } = ledger.keys.tenant(tenant);
  const found = new Set<string>();
  let from = after === null ? `[${PREFIX}` : afterTasksOf(after);
  while (found.size < limit) {
    // The character after `=` ends the range, whatever letters the ids begin with.
    const members = await ledger.redis.zrangebylex(index, from, '(session>', 'LIMIT', 0, READ);
    const ids = members.map((member) => lookupValue(member.slice(PREFIX.length, -SUFFIX_CHARACTERS)));
    for (const id of ids) if (found.size < limit) found.add(id);
    const last = ids.at(-1);
    if (last === undefined || members.length < READ) break;
    from = afterTasksOf(last);
  }
  return [...found];
}

/** A page of sessions by their ids; `next` is null at the end. */
async function sessionsById(ledger: Ledger, tenant: string, after: string | null, limit: number): Promise<SessionPlaces> {
  const ids = await sessionIdsAfter(ledger, tenant, after, limit);
  return { places: ids.map((id) => ({ id, cursor: id })), next: ids.length < limit ? null : (ids.at(-1) ?? null) };
}

/** The range after the last task that the session can have by now. */
function afterTasksOf(id: string): string {
  return `(${lookupName('session', id)}/${idAt(Date.now() + AHEAD_MS)}`;
}
