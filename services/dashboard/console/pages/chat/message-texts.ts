import type { Session } from '#shared/client/openapi.gen.ts';
import { zoneTime } from '../../parts/zone-time.ts';
import type { ChatMessage } from './conversation.ts';

const TASK = /\btask ([0-9A-HJKMNP-TV-Z]{26})\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g;
const EXCERPT_CHARACTERS = 40;

/** The part of a session that says why its tasks wait. */
interface ReasonsForWaiting extends Pick<Session, 'waiting'> {
  holder: Pick<NonNullable<Session['holder']>, 'taskId' | 'reason'> | null;
}

/**
 * The reasons for waiting, by task; the lane's holder may have one too. A reason quotes the messages of the conversation
 * instead of their task ids, and times in the viewer's zone.
 */
export function waitTexts(session: ReasonsForWaiting | undefined, messages: readonly ChatMessage[]): Map<string, string> {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const named = (reason: string): string =>
    reason.replaceAll(TASK, (found, id: string) => quote(messages, id) ?? found).replaceAll(TIME, (at) => zoneTime(at, timeZone));
  const texts = new Map(session?.waiting.map(({ taskId, reason }) => [taskId, named(reason)]));
  const holder = session?.holder;
  if (holder && holder.reason !== null) texts.set(holder.taskId, named(holder.reason));
  return texts;
}

function quote(messages: readonly ChatMessage[], id: string): string | null {
  const text = messages
    .find((message) => message.id === id)
    ?.text.replaceAll(/\s+/g, ' ')
    .trim();
  if (text === undefined) return null;
  return `“${text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text}”`;
}

const OUTCOME_TEXTS: Readonly<Record<string, string>> = {
  steered: 'Went into the running answer',
  merged: 'Became one turn with another message',
  superseded: 'Replaced by a newer message',
  rejected: 'Refused: an answer was running',
  dropped: 'Dropped',
  cancelled: 'Cancelled',
  expired: 'Expired before its turn came',
  skipped: 'Skipped',
};

/** Outcomes whose reason would only repeat the text. */
const SELF_EXPLANATORY = new Set(['steered', 'merged', 'superseded', 'rejected']);

/** The outcome of a message that got no answer of its own; null for other messages. */
export function outcomeText({ outcome, status, error }: ChatMessage): string | null {
  if (status === 'permanently_failed') return withReason('Failed', error);
  if (outcome === null || outcome.kind === 'ran') return null;
  const text = OUTCOME_TEXTS[outcome.kind] ?? outcome.kind;
  return SELF_EXPLANATORY.has(outcome.kind) ? text : withReason(text, outcome.reason);
}

function withReason(text: string, reason: string | null | undefined): string {
  return reason === null || reason === undefined || reason === '' ? text : `${text}: ${reason}`;
}
