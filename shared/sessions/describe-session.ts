import { QUEUE_MODES, type QueueMode } from '../config/index.ts';
import type { NextWait } from './describe-wait.ts';
import type { ChosenMode, ModeSource } from './routing.ts';
import type { SessionHolder, SessionRecord } from './session-record.ts';
import type { Gate } from '../errors/index.ts';
import type { Task, TaskState } from '../tasks/index.ts';
import { timeText } from '../time/index.ts';

/** Bound of the waiting tasks that an answer in a chat names. */
const SHOWN = 10;
const EXCERPT_CHARACTERS = 60;

/** What runs, what waits, why, and about how long, for the people of a session. */
export function describeSession(
  { holder, waiting, waitingTotal, runs, mode, modeSource, surface, next }: SessionRecord & { next: NextWait | null },
  now: number,
): string {
  const shown = waiting.slice(0, SHOWN).map(lineOf);
  const left = waitingTotal - shown.length;
  return [
    holder ? holderLine(holder, next, now) : 'Nothing runs.',
    waitingTotal === 0 ? 'Nothing waits.' : `${waitingTotal} ${waitingTotal === 1 ? 'waits' : 'wait'}:`,
    ...shown,
    ...(left > 0 && shown.length > 0 ? [`and ${left} more`] : []),
    ...(next?.startMs === null || next === null ? [] : [`The next one should start in about ${spanText(next.startMs)}.`]),
    ...runs.slice(0, SHOWN).map((run) => runLine(run, now)),
    ...(runs.length > SHOWN ? [`and ${runs.length - SHOWN} more runs of schedules`] : []),
    describeMode({ mode, source: modeSource }, surface),
  ].join('\n');
}

function holderLine({ text, startedAt, reason }: SessionHolder, next: NextWait | null, now: number): string {
  const named = excerpt(text);
  if (startedAt === null) return `Next is ${named}: it ${next?.reason ?? reason ?? 'starts now'}.`;
  return `${named} has run for ${spanText(now - startedAt)}.`;
}

/** A run of a schedule goes on beside what people wrote. */
function runLine({ text, startedAt, reason }: SessionHolder, now: number): string {
  return `Of a schedule: ${excerpt(text)} ${startedAt === null ? (reason ?? 'starts now') : `has run for ${spanText(now - startedAt)}`}.`;
}

function lineOf({ text, position, reason }: SessionWaiting): string {
  return `${position}. ${excerpt(text)}: ${reason}`;
}

export function excerpt(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  const cut = characters.length > EXCERPT_CHARACTERS ? `${characters.slice(0, EXCERPT_CHARACTERS - 1).join('')}…` : characters.join('');
  return `"${cut}"`;
}

const MEANING: Readonly<Record<QueueMode, string>> = {
  queue: 'a message goes into the running task if its agent takes input and nothing waits, else it waits its turn',
  steer: 'a message goes into the running task if its agent takes input, past what waits, else it waits its turn',
  interrupt: 'a message stops the running task and replaces what waits',
  collect: 'messages wait, and become one turn together',
  latest: 'a message waits its turn and replaces what waited before',
  reject: 'a message that meets a running task is refused',
};

const SOURCE: Readonly<Record<ModeSource, (surface: string) => string>> = {
  message: () => 'for this message',
  session: () => 'chosen for this session',
  surface: (surface) => `the default of ${surface}`,
  global: () => 'the default',
};

export const HOW_TO_CHOOSE = `Choose with /queue <mode>: ${QUEUE_MODES.join(', ')}; /queue default takes the choice back.`;

/** A mode, where it comes from, and what it means, for the people of a session. */
export function describeMode({ mode, source }: ChosenMode, surface: string): string {
  return `Mode: ${mode} (${SOURCE[source](surface)}): ${MEANING[mode]}.`;
}

export interface SessionWaiting {
  taskId: string;
  text: string;
  /** How many are before it in the session, the holder included. */
  position: number;
  reason: string;
}

/** What waits in a session behind its holders, next one first. */
export function waitingLine(held: readonly Task[], waiting: readonly Task[], words: WaitingWords = EXACT_WORDS): SessionWaiting[] {
  const line = [...held, ...waiting];
  return waiting.map(({ body, state }, index) => {
    const position = index + held.length;
    return { taskId: body.id, text: body.input, position, reason: explainWaiting(state, line[position - 1] ?? null, words) };
  });
}

/** Why the next task waits; `until` begins with a space or is empty. */
const OWN_REASON: Readonly<Record<Gate, (until: string) => string>> = {
  debounce: (until) => `collects what else comes${until}`,
  retry: (until) => `failed, and waits for its retry${until}`,
  provider: (until) => `waits for its provider${until}`,
  budget: (until) => `waits for its budget, which is used up${until}`,
  circuit: (until) => `waits for its endpoint, which keeps failing${until}`,
  failures: () => 'waits until somebody sees to its agent, which keeps failing',
  agent: () => 'waits until its agent, which is paused, is resumed',
  repeats: () => 'waits until somebody sees to what sends the same input again and again',
  interruptions: () => 'waits until somebody retries it, because workers that shut down interrupted it too often',
  daemon: () => 'waits for a daemon that can run it',
  paused: () => 'waits until its queue, which is paused, is resumed',
  worker: () => 'waits until a worker serves its queue',
  sleep: (until) => `sleeps${until}`,
  event: (until) => `waits for an event${until}`,
  question: (until) => `waits for an answer${until}`,
  children: () => 'waits for its sub-tasks',
  batch: (until) => `waits for a batch of its provider${until}`,
  caller: () => 'waits for what functions of its caller give',
  commands: () => 'waits until other commands have ended',
  suspect: (until) => `was lost with its worker, and comes back isolated${until}`,
  time: (until) => `is not due${until}`,
  cap: () => "waits for room under its tenant's caps",
  lane: () => 'is next',
  steer: () => 'is next',
};

/** Why a task of a session does not run yet, from its state alone. `before` is the task in front of it; null for the next one. */
export function explainWaiting({ steer, mode, ...state }: TaskState, before: Task | null, words: WaitingWords): string {
  if (steer !== undefined) return `offered to ${words.task(steer)} as input, not taken yet`;
  if (before === null) return ownReason(state, words);
  return `behind ${words.task(before.body.id)}${mode === 'collect' ? ', and becomes one turn with what else waits' : ''}`;
}

function ownReason({ status, gate, notBefore }: Pick<TaskState, 'status' | 'gate' | 'notBefore'>, words: WaitingWords): string {
  if (gate !== undefined) return OWN_REASON[gate](notBefore === undefined ? '' : words.until(notBefore));
  return status === 'scheduled' ? 'starts now' : 'waits for a worker';
}

/** How a reason for waiting names tasks and times. */
export interface WaitingWords {
  /** The task in front. */
  task(id: string): string;
  /** Until when it waits, ms since the epoch; begins with a space. */
  until(at: number): string;
}

/** For callers who read tasks by id. */
export const EXACT_WORDS: WaitingWords = { task: (id) => `task ${id}`, until: (at) => ` until ${timeText(at)}` };

/** For the people of a chat, who see neither ids nor clocks of other zones. */
export function plainWords(now: number): WaitingWords {
  return { task: () => 'the one before', until: (at) => ` for another ${spanText(at - now)}` };
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/** About how long, in one unit: `40 s`, `2 min`, `3 h`. */
function spanText(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1000, 's'];
  return `${Math.max(1, Math.round(ms / size))} ${name}`;
}
