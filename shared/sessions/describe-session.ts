import { describeMode } from './describe-mode.ts';
import type { SessionHolder, SessionRecord } from './session-record.ts';
import type { SessionWaiting } from './waiting-line.ts';

/** Waiting tasks that an answer in a chat names. */
const SHOWN = 10;
const EXCERPT_CHARACTERS = 60;

/** What runs, what waits and why, for the people of a session. */
export function describeSession({ holder, waiting, waitingTotal, mode, modeSource, surface }: SessionRecord): string {
  const shown = waiting.slice(0, SHOWN).map(lineOf);
  const left = waitingTotal - shown.length;
  return [
    holder ? holderLine(holder) : 'Nothing runs.',
    waitingTotal === 0 ? 'Nothing waits.' : `${waitingTotal} ${waitingTotal === 1 ? 'waits' : 'wait'}:`,
    ...shown,
    ...(left > 0 && shown.length > 0 ? [`and ${left} more`] : []),
    describeMode({ mode, source: modeSource }, surface),
  ].join('\n');
}

function holderLine({ taskId, text, startedAt, reason }: SessionHolder): string {
  const named = `${excerpt(text)} (task ${taskId})`;
  if (startedAt === null) return `Next is ${named}: it ${reason ?? 'starts now'}.`;
  return `${named} runs since ${new Date(startedAt).toISOString()}.`;
}

function lineOf({ taskId, text, position, reason }: SessionWaiting): string {
  return `${position}. ${excerpt(text)} (task ${taskId}): ${reason}`;
}

function excerpt(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  const cut = characters.length > EXCERPT_CHARACTERS ? `${characters.slice(0, EXCERPT_CHARACTERS - 1).join('')}…` : characters.join('');
  return `"${cut}"`;
}
