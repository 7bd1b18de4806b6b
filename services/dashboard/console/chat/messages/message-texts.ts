import type { Session } from '../../api/records.ts';
import type { ChatMessage } from '../conversation.ts';

const TASK = /\btask ([0-9A-HJKMNP-TV-Z]{26})\b/g;
const EXCERPT_CHARACTERS = 40;

/**
 * Why the messages that have not begun do not, by task. Tasks that are messages of the conversation are named by their words;
 * the one whose turn it is may have a reason too.
 */
export function waitTexts(session: Session | undefined, messages: readonly ChatMessage[]): Map<string, string> {
  const named = (reason: string): string => reason.replaceAll(TASK, (found, id: string) => quote(messages, id) ?? found);
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

const BY_KIND: Readonly<Record<string, string>> = {
  steered: 'Went into the running answer',
  merged: 'Became one turn with another message',
  superseded: 'Replaced by a newer message',
  rejected: 'Refused: an answer was running',
  dropped: 'Dropped',
  cancelled: 'Cancelled',
  expired: 'Expired before its turn came',
  skipped: 'Skipped',
};

/** Kinds whose reason only says the same again. */
const CLEAR = new Set(['steered', 'merged', 'superseded', 'rejected']);

/** What became of a message other than an answer of its own; null for nothing to say. */
export function outcomeText({ outcome, status, error }: ChatMessage): string | null {
  if (status === 'permanently_failed') return withReason('Failed', error);
  if (outcome === null || outcome.kind === 'ran') return null;
  const text = BY_KIND[outcome.kind] ?? outcome.kind;
  return CLEAR.has(outcome.kind) ? text : withReason(text, outcome.reason);
}

function withReason(text: string, reason: string | null | undefined): string {
  return reason === null || reason === undefined || reason === '' ? text : `${text}: ${reason}`;
}
