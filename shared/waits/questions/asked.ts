import { createHash } from 'node:crypto';
import { type Asked, askedSchema } from '../../config/index.ts';
import type { JournalEntry } from '../../ledger/index.ts';

/** What an entry asks. */
export function askedOf({ wait }: Pick<JournalEntry, 'wait'>): Asked {
  return askedSchema.parse(JSON.parse(wait ?? 'null'));
}

/** Whether a run asks what an entry of its journal asked. */
export function isSameQuestion(entry: Pick<JournalEntry, 'wait'>, asked: Asked): boolean {
  return digestOf(askedOf(entry)) === digestOf(asked);
}

const DIGEST = 8;

/** An answer is for what was asked so, and for nothing else. */
export function digestOf({ question, choices, schema, to, by }: Asked): string {
  return createHash('sha256')
    .update(JSON.stringify([question, choices, schema, to, by]))
    .digest('hex')
    .slice(0, DIGEST);
}
