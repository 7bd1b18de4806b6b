import { describeMode } from './describe-mode.ts';
import type { SessionHolder, SessionRecord } from './session-record.ts';
import { spanText } from './waiting/waiting-words.ts';
import type { SessionWaiting } from './waiting/waiting-line.ts';

/** Waiting tasks that an answer in a chat names. */
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
