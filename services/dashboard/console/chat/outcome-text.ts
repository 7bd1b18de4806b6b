import type { ChatMessage } from './conversation.ts';

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
