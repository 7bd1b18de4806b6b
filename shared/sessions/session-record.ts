import type { QueueMode } from '../config/index.ts';
import { type Lane, type Ledger, readLane } from '../ledger/index.ts';
import { hasAttempt, type Task, type TaskStatus } from '../tasks/index.ts';
import { chooseMode, DEFAULT_SURFACE, type ModeSource } from './routing.ts';
import { EXACT_WORDS, explainWaiting, type SessionWaiting, waitingLine, type WaitingWords } from './describe-session.ts';
import { sessionLane } from '../queue/index.ts';
import { listReportingRuns } from './reporting-runs.ts';
import { readChoices, type SessionChoices } from './session-store.ts';

export interface SessionHolder {
  taskId: string;
  status: TaskStatus;
  text: string;
  /** Null when it has not started yet, ms since the epoch. */
  startedAt: number | null;
  worker: string | null;
  /** Why it does not run, though it is its turn; null when it does. */
  reason: string | null;
}

/** A session as people see it: the task that holds its lane, what waits and why. */
export interface SessionRecord {
  id: string;
  mode: QueueMode;
  modeSource: ModeSource;
  /** Where its messages come from. */
  surface: string;
  holder: SessionHolder | null;
  /** The next ones; there may be more. */
  waiting: SessionWaiting[];
  waitingTotal: number;
  /** Runs of schedules that report into it, beside its lane. */
  runs: SessionHolder[];
}

/** Waiting tasks that a record shows. */
const SHOWN = 100;

export interface ReadSessionOptions {
  /** Where the reader writes; by default where the session's last message came from. */
  surface?: string;
  /** By default exact. */
  words?: WaitingWords;
}

/** A session is a name: an unused one is free and has nothing waiting. */
export async function readSession(
  { ledger }: { ledger: Ledger },
  tenant: string,
  id: string,
  options: ReadSessionOptions = {},
): Promise<SessionRecord> {
  const [choices, lane, runs] = await Promise.all([
    readChoices(ledger, tenant, id),
    readLane(ledger, tenant, sessionLane(id), SHOWN),
    listReportingRuns(ledger, tenant, id),
  ]);
  const words = options.words ?? EXACT_WORDS;
  const surface = options.surface ?? choices.surface ?? DEFAULT_SURFACE;
  return { id, ...modeOf(ledger, choices, surface), surface, ...placesOf(lane, words), runs: runs.map((run) => holderOf(run, words)) };
}

function modeOf(ledger: Ledger, choices: SessionChoices, surface: string): Pick<SessionRecord, 'mode' | 'modeSource'> {
  const { mode, source } = chooseMode(ledger.settings, { inline: null, choices, surface });
  return { mode, modeSource: source };
}

function placesOf({ held, waiting, waitingTotal }: Lane, words: WaitingWords): Pick<SessionRecord, 'holder' | 'waiting' | 'waitingTotal'> {
  const [first] = held;
  return {
    holder: first ? holderOf(first.task, words) : null,
    waiting: waitingLine(
      held.map(({ task }) => task),
      waiting,
      words,
    ),
    waitingTotal: Math.max(waitingTotal, waiting.length),
  };
}

function holderOf({ body, state }: Task, words: WaitingWords): SessionHolder {
  const isRunning = state.status === 'running';
  return {
    taskId: body.id,
    status: state.status,
    text: body.input,
    startedAt: isRunning ? (state.startedAt ?? null) : null,
    worker: hasAttempt(state.status) ? (state.worker ?? null) : null,
    reason: isRunning ? null : explainWaiting(state, null, words),
  };
}
