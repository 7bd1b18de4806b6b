import { z } from 'zod';
import type { ApiClient } from './api-client.ts';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';
import { oneLine } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';

/** A task's id is a ULID: 26 characters of Crockford's base 32, which sort by time. */
const ID_LENGTH = 26;
const PREFIX = /^[0-7][0-9A-HJKMNP-TV-Z]{0,25}$/;
/** Candidates that are named when a prefix fits several tasks. */
const MAX_CANDIDATES = 8;
const INPUT_WIDTH = 60;

const pageSchema = z.object({ items: z.array(z.object({ id: z.string(), status: z.string(), input: z.string() })) });

/**
 * The id of the one task that `text` begins; a full id is returned as it is. Throws a `CliProblem`, `task.ambiguous` with the
 * candidates, or `task.not-found`.
 */
export async function resolveTaskId(api: ApiClient, text: string): Promise<string> {
  const prefix = text.toUpperCase();
  if (prefix.length >= ID_LENGTH || !PREFIX.test(prefix)) return text;
  // Lists go from the cursor down, so the highest id with this prefix is where its tasks begin.
  const cursor = prefix.padEnd(ID_LENGTH, 'Z');
  const answer = await api.get('/v1/tasks', { cursor, limit: String(MAX_CANDIDATES + 1) });
  const fitting = readAnswer(pageSchema, answer).items.filter(({ id }) => id.startsWith(prefix));
  const [first, second] = fitting;
  if (!first) throw new CliProblem(`There is no task whose id begins with ${text}`, { exitCode: EXIT.failed, code: 'task.not-found' });
  if (!second) return first.id;
  const lines = fitting.slice(0, MAX_CANDIDATES).map(({ id, status, input }) => `  ${id}  ${status}  ${oneLine(input, INPUT_WIDTH)}`);
  if (fitting.length > MAX_CANDIDATES) lines.push('  and more');
  throw new CliProblem(`Several tasks have an id that begins with ${text}:`, { exitCode: EXIT.usage, code: 'task.ambiguous', lines });
}
