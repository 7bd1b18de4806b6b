import { truncate } from '../../text/index.ts';
import type { TaskParts } from './task-parts.ts';

/** Characters of an input and an output that stay: lists show no more. */
const BEGINNING = 500;
/** Characters of metadata, and of a result, that stay as they are. */
const SHORT = 1000;
/** Characters of a journal's field that stays: counts and marks, but few entries. */
const SHORT_FIELD = 64;
/** Fields of a journal that are read of ended tasks in lists: its definition, how far it came, and what came last. */
const DEFINITION = '1';
const LAST = 'last';

/** The field of a journal that says where the rest of it is. */
export const ARCHIVED = 'archived';

/**
 * What of a task stays in Redis: all that scripts, lookups and lists read. The body says at its end where the rest is. `questions`: entries of the journal
 * that are questions to people, which are listed.
 */
export function keptOf(parts: TaskParts, place: string, questions: ReadonlySet<string>): TaskParts {
  const { output, result, journal } = parts;
  const kept = journal.filter(([field, value]) => staysInJournal(field, value) || questions.has(field));
  return {
    body: keptBody(parts.body, place),
    output: output === null ? null : truncate(output, BEGINNING),
    result: result !== null && result.length <= SHORT ? result : null,
    journal: journal.length === 0 ? [] : [...kept, [ARCHIVED, place]],
  };
}

function staysInJournal(field: string, value: string): boolean {
  if (field === DEFINITION || field === LAST) return value.length <= SHORT;
  return !/^\d+$/.test(field) && value.length <= SHORT_FIELD;
}

/** The members stay in their order, by which the scripts read them. */
function keptBody(text: string, place: string): string {
  const { context: _context, request: _request, system: _system, ...body } = JSON.parse(text) as Record<string, unknown>;
  if (typeof body['input'] === 'string') body['input'] = truncate(body['input'], BEGINNING);
  if (JSON.stringify(body['metadata'] ?? null).length > SHORT) delete body['metadata'];
  return JSON.stringify({ ...body, archived: place });
}
