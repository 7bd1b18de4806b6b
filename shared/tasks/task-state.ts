import type { FinishReason, QueueMode, Source, TaskQueue } from '../config/index.ts';
import type { Gate, TaskHold } from '../errors/index.ts';
import type { OutcomeKind } from './task.ts';
import type { TaskStatus } from './transitions.ts';
import type { TaskUsage } from './usage.ts';

export interface StoredAttempt {
  number: number;
  worker: string;
  daemon?: string;
  startedAt: number;
  endedAt?: number;
  status: 'running' | 'success' | 'failed' | 'timeout' | 'cancelled' | 'interrupted' | 'suspended';
  error?: StoredError;
  /** As far as it is known. */
  usage?: TaskUsage;
  /** The model that answered instead of the requested one. */
  model?: string;
  /** Why another model was called, in words. */
  notes?: string[];
}

/** As the scripts store it: `details` is JSON text, because Lua would turn its empty arrays into objects. */
export interface StoredError {
  code: string;
  message: string;
  retryable: boolean;
  details?: string;
}

/** A lane that tasks have besides their own, and how many of its tasks run at once. */
export interface SharedLane {
  name: string;
  limit: number;
}

/** Who outside the ledger is notified of a task's end: a chat, a URL, its schedule, the run that waits for it. */
export const SUBSCRIBERS = ['reply', 'callback', 'run', 'parent'] as const;
export type Subscriber = (typeof SUBSCRIBERS)[number];

/** A message whose input is part of another task's. */
export interface PartOfInput {
  /** The message's own task. */
  id: string;
  how: 'steered' | 'merged' | 'carried';
}

/** What it is. Only its priority, what follows from that, and a lane that a message gives it change. */
interface TaskIdentity {
  agent: string;
  source: Source;
  user?: string;
  /** As in its body; absent for none. */
  visitor?: string;
  /** As in its body; absent where its source and its visitor say it already. */
  untrusted?: boolean;
  createdAt: number;
  queue: TaskQueue;
  priority: number;
  /** For caps: the letter of its source class, and 0 for low priority, else 1. */
  class: string;
  lane?: string;
  laneLimit?: number;
  /** Lanes shared with tasks of other lanes; it takes all of them at once, after its own. Absent for none. */
  sharedLanes?: SharedLane[];
  /** While it waits for one of its gates: since when others may pass it in a lane that has room, ms; 0 to keep its lanes for it at once. */
  passed?: number;
  /** Its place in the lane, by default the time it was accepted. Text, because Lua would shorten a long number. */
  order?: string;
  /** Lets the next of its lane go first while it waits for a retry. */
  yields?: boolean;
  deadline?: number;
  sla?: number;
  /** Among its equals it stands as if it had been accepted then, when that is earlier: its sla less `dispatch.slaLeadMs`. */
  ranksFrom?: number;
  /** How long it is expected to run, ms; stored with a deadline, to escalate the task when that is near. */
  estimateMs?: number;
  /** What its tickets count in the turns of tenants, ms of a slot; absent for the default. */
  costMs?: number;
  /** The key that waits for its end while it is answered: it may start in a slot kept for people. */
  awaitedBy?: string;
  maxAttempts: number;
  timeoutMs: number;
  /** Who is notified of its end. */
  tell?: Subscriber[];
}

/** Its current or last attempt, and what those before left. */
export interface AttemptState {
  /** Fencing token of the current or last attempt. */
  token: number;
  attempt: number;
  /** Attempts that count, since it was accepted or opened again. */
  spent: number;
  /** Number of the attempt before it was opened again; the numbers continue from there. */
  earlier?: number;
  /** The last action that retried it, which does so once. */
  retriedBy?: string;
  worker?: string;
  /** The daemon that runs, or ran, the current or last attempt for that worker, a hub. */
  daemon?: string;
  /** Of the current attempt: whether its process holds only suspects (`shared`), or only this one (`own`). */
  isolation?: 'own' | 'shared';
  scheduledAt?: number;
  startedAt?: number;
  /** A stop on its way to the worker; `by` is the task that takes this one's place. */
  cancel?: { at: number; reason: string; by?: string };
  /** It completed although it was to stop, and delegates no more. */
  stopped?: true;
  /** Makes room for the critical task `by`, also in its shared lanes: a stop on its way to the worker of the attempt with this token. */
  preempt?: { token: number; by: string; at: number; isForLanes?: true };
  /** The critical task that it made room for last. */
  preemptedBy?: string;
  /** Attempts that ended so. */
  preemptions?: number;
  /** Processes that were lost while it ran there, unless another task is known as the cause. From the first on it runs isolated. */
  losses?: number;
  /** How long attempts ran that were suspended since the last one that was not, ms: its timeout counts them. */
  ranMs?: number;
  /** A question that its run put to people while it goes on running, until that is answered: the number of its entry in the journal, and its id. */
  asking?: { entry: number; question: string };
  /** Attempts in a row that workers interrupted by ending, and which left nothing that the next one goes on from. */
  interruptions?: number;
  /** Entries of its journal that had ended at the last loss or interruption before which these grew. */
  journaled?: number;
  /** The version of its agent that its run began with: a worker with that one goes on with it, as long as there is one. */
  version?: string;
  /** Attempts that were lost with their daemon and cost nothing. */
  daemonLosses?: number;
  /** Daemons that failed it, and until when they get it no more, ms since the epoch. */
  excluded?: Record<string, number>;
  error?: StoredError;
  /** How the answer of its model ended, once it has completed; absent where no model says it. */
  finishReason?: FinishReason;
  /** Of all its attempts. */
  usage?: TaskUsage;
  /** Of its last attempt, unless that was its first. */
  attemptUsage?: TaskUsage;
  /** Of its last attempt, as in `StoredAttempt`. */
  attemptModel?: string;
  attemptNotes?: string[];
}

/** What it waits for until it runs. */
interface WaitingState {
  queuedAt?: number;
  granted?: boolean;
  /** Number of its newest ticket. */
  ticket: number;
  gate?: Gate;
  notBefore?: number;
  /** What holds it; its gate says the same. Absent for a task that is not held. */
  hold?: TaskHold;
  /** Of a suspended run: the number of the entry in its journal that it waits at, until when at most, and how long it keeps its lane. */
  suspended?: { entry: number; until?: number; laneUntil?: number };
  /** How often it was held, which costs no attempt. */
  holds?: number;
  /** What turned its last attempt back before that gave or used anything, as the settlement compares it. */
  turnedBack?: string;
  /** What was published last of what it waits for, as JSON, so that it is published once. */
  notice?: string;
  /** Of a critical task at a cap, or in the line of a shared lane: the running task whose place it gets. */
  preempts?: string;
  /** Whether its sla passed before its end. Absent for a task that ended: its end says so. */
  slaBreached?: true;
}

/** What it and the other messages of its session do to each other. */
interface SessionState {
  /** What it does when its session is busy; absent for a task that only waits its turn. */
  mode?: QueueMode;
  /** Whether messages may go into its run. */
  takesInput?: boolean;
  /** While it waits: the running task whose input it was offered as. */
  steer?: string;
  /** Of mode `collect`: how long its claim waits for more messages. */
  collect?: { debounceMs: number; longestWaitMs: number };
  /** Messages whose input belongs to its own, in order. */
  inputs?: PartOfInput[];
  /** `<call> <count>`: the call that took the last of them, to recognize it when it is sent again. */
  taking?: string;
  /** Beginnings of messages that were left out of its turn because too many waited, oldest first. */
  leftOut?: string[];
}

/** What changes of a task, as the ledger's scripts work on it: one object, in four parts and where it is. Times are milliseconds since the epoch. */
export interface TaskState extends TaskIdentity, AttemptState, WaitingState, SessionState {
  status: TaskStatus;
  completedAt?: number;
  outcome?: { kind: OutcomeKind; taskId?: string; reason?: string };
  /** Every status it had: `<status>@<ms>[ <note>]`, separated by semicolons. See `parseTimeline`. */
  log: string;
}

/** The part of its state that a task begins with. */
export type FirstState = Omit<TaskState, 'status' | 'token' | 'spent' | 'attempt' | 'ticket' | 'createdAt' | 'log'>;
