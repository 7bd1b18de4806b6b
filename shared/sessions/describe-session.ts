import { QUEUE_MODES, type QueueMode } from '../config/index.ts';
import type { ChosenMode, ModeSource } from './routing.ts';
import type { SessionHolder, SessionRecord } from './session-record.ts';
import { type SessionWaiting, spanText } from './waiting.ts';

/** Bound of the waiting tasks that an answer in a chat names. */
const SHOWN = 10;
const EXCERPT_CHARACTERS = 60;

/** What runs, what waits and why, for the people of a session. */
export function describeSession({ holder, waiting, waitingTotal, mode, modeSource, surface }: SessionRecord, now: number): string {
  const shown = waiting.slice(0, SHOWN).map(lineOf);
  const left = waitingTotal - shown.length;
  return [
    holder ? holderLine(holder, now) : 'Nothing runs.',
    waitingTotal === 0 ? 'Nothing waits.' : `${waitingTotal} ${waitingTotal === 1 ? 'waits' : 'wait'}:`,
    ...shown,
    ...(left > 0 && shown.length > 0 ? [`and ${left} more`] : []),
    describeMode({ mode, source: modeSource }, surface),
  ].join('\n');
}

function holderLine({ text, startedAt, reason }: SessionHolder, now: number): string {
  const named = excerpt(text);
  if (startedAt === null) return `Next is ${named}: it ${reason ?? 'starts now'}.`;
  return `${named} has run for ${spanText(now - startedAt)}.`;
}

function lineOf({ text, position, reason }: SessionWaiting): string {
  return `${position}. ${excerpt(text)}: ${reason}`;
}

function excerpt(text: string): string {
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
