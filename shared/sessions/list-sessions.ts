import type { QueueMode } from '../config/queue-mode.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readTasks } from '../ledger/read-tasks.ts';
import type { Task } from '../tasks/task.ts';
import { chooseMode, DEFAULT_SURFACE, type ModeSource } from './choose-mode.ts';
import { sessionLane } from './session-lane.ts';
import { readChoices } from './session-store.ts';
import { sessionIdsAfter } from './session-ids-after.ts';

/** A session in a list. */
export interface SessionSummary {
  id: string;
  mode: QueueMode;
  modeSource: ModeSource;
  surface: string;
  holder: { taskId: string; startedAt: number | null; worker: string | null } | null;
  waitingTotal: number;
}

export interface SessionPage {
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
}

/** Sessions one page of active ones may look at, so that a quiet tenant's many are not walked in one call. */
const SCAN_MOST = 2000;
const BATCH = 100;

/** Sessions of a tenant that have tasks, by id. A page may hold fewer than `limit` and still have a `next`. */
export async function listSessions(ledger: Ledger, tenant: string, { limit, after, active }: ListSessionsOptions): Promise<SessionPage> {
  const items: SessionSummary[] = [];
  const batch = active ? BATCH : limit;
  let cursor = after ?? null;
  for (let scanned = 0; scanned < SCAN_MOST; scanned += batch) {
    const ids = await sessionIdsAfter(ledger, tenant, cursor, batch);
    const found = await summarize(ledger, tenant, ids);
    const fitting = active ? found.filter(isActive) : found;
    const taken = fitting.slice(0, limit - items.length);
    items.push(...taken);
    if (taken.length < fitting.length) return { items, next: taken.at(-1)?.id ?? null };
    if (ids.length < batch) return { items, next: null };
    [cursor = null] = ids.slice(-1);
    if (items.length === limit) break;
  }
  return { items, next: cursor };
}

function isActive({ holder, waitingTotal }: SessionSummary): boolean {
  return holder !== null || waitingTotal > 0;
}

/** All of them at once, so that the connection sends them together. */
async function summarize(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<SessionSummary[]> {
  const keys = ledger.keys.tenant(tenant);
  const seen = await Promise.all(
    ids.map(async (id) => {
      const lane = sessionLane(id);
      const [choices, waitingTotal, [holder = null]] = await Promise.all([
        readChoices(ledger, tenant, id),
        ledger.redis.zcard(keys.laneWait(lane)),
        ledger.redis.zrange(keys.laneHeld(lane), '0', '0'),
      ]);
      return { id, choices, waitingTotal, holder };
    }),
  );
  const holders = seen.flatMap(({ holder }) => holder ?? []);
  const tasks = new Map((await readTasks(ledger, tenant, holders)).flatMap((task) => (task ? [[task.body.id, task] as const] : [])));
  return seen.map(({ id, choices, waitingTotal, holder }) => {
    const surface = choices.surface ?? DEFAULT_SURFACE;
    const { mode, source } = chooseMode(ledger.settings, { inline: null, choices, surface });
    const task = holder === null ? undefined : tasks.get(holder);
    return { id, mode, modeSource: source, surface, holder: task ? summaryOf(task) : null, waitingTotal };
  });
}

function summaryOf({ body, state }: Task): SessionSummary['holder'] {
  const isRunning = state.status === 'running';
  return { taskId: body.id, startedAt: isRunning ? (state.startedAt ?? null) : null, worker: isRunning ? (state.worker ?? null) : null };
}
