import { z } from 'zod';
import { type ApiClient, readAnswer } from '../../client/api-client.ts';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { oneLine, type Style } from '../../output/terminal.ts';

const text = z.string().nullish();
const errorSchema = z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() });

/** The fields of a task that the commands show; the server sends more. */
export const taskViewSchema = z.object({
  id: z.string(),
  status: z.string(),
  agent: z.string(),
  source: text,
  session: text,
  priority: z.number(),
  queue: text,
  input: z.string(),
  output: text,
  result: z.unknown().optional(),
  attempt: z.number(),
  worker: text,
  deadline: text,
  sla: text,
  slaBreached: z.boolean().nullish(),
  preemptedBy: text,
  interruptions: z.number().optional(),
  error: errorSchema.nullish(),
  outcome: z.object({ kind: z.string(), taskId: text, reason: text }).nullish(),
  progress: z.object({ note: text, percent: z.number().nullish() }).nullish(),
  finishReason: z.string().nullish(),
  isTruncated: z.boolean().nullish(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costMicroUsd: z.number().nullish() }).nullish(),
  traceId: text,
  traceUrl: text,
  createdAt: z.string(),
  startedAt: text,
  completedAt: text,
});

export type TaskView = z.infer<typeof taskViewSchema>;

/** The attempts of a task, oldest first. */
export const attemptsSchema = z.object({
  items: z.array(
    z.object({
      number: z.number(),
      worker: z.string(),
      daemonName: text,
      startedAt: z.string(),
      endedAt: z.string().nullish(),
      status: z.string(),
      error: errorSchema.nullish(),
      model: z.string().nullish(),
      notes: z.array(z.string()).nullish(),
    }),
  ),
});

/** A task's id is a ULID: 26 characters of Crockford's base 32, which sort by time. */
const ID_LENGTH = 26;
const PREFIX = /^[0-7][0-9A-HJKMNP-TV-Z]{0,25}$/;
/** How many candidates are listed when several tasks match. */
const MAX_CANDIDATES = 8;
const INPUT_WIDTH = 60;

const candidatesSchema = z.object({ items: z.array(z.object({ id: z.string(), status: z.string(), input: z.string() })) });

/**
 * Completes the beginning of a task's id; a complete id is returned as it is. Throws a `CliProblem`: `task.ambiguous` with the
 * candidates, or `task.not-found`.
 */
export async function resolveTaskId(api: ApiClient, given: string): Promise<string> {
  const prefix = given.toUpperCase();
  if (prefix.length >= ID_LENGTH || !PREFIX.test(prefix)) return given;
  // A list starts below its cursor, so the highest id with this prefix comes before all of its tasks.
  const cursor = prefix.padEnd(ID_LENGTH, 'Z');
  const answer = await api.get('/v1/tasks', { cursor, limit: String(MAX_CANDIDATES + 1) });
  const matching = readAnswer(candidatesSchema, answer).items.filter(({ id }) => id.startsWith(prefix));
  const [first, second] = matching;
  if (!first) throw new CliProblem(`There is no task whose id begins with ${given}`, { exitCode: EXIT.failed, code: 'task.not-found' });
  if (!second) return first.id;
  const lines = matching.slice(0, MAX_CANDIDATES).map(({ id, status, input }) => `  ${id}  ${status}  ${oneLine(input, INPUT_WIDTH)}`);
  if (matching.length > MAX_CANDIDATES) lines.push('  and more');
  throw new CliProblem(`Several tasks have an id that begins with ${given}:`, { exitCode: EXIT.usage, code: 'task.ambiguous', lines });
}

const STYLES: Readonly<Record<string, Style>> = {
  completed: 'green',
  running: 'bold',
  scheduled: 'bold',
  failed: 'yellow',
  timeout: 'yellow',
  permanently_failed: 'red',
  cancelled: 'dim',
  stale: 'dim',
  skipped: 'dim',
};

export function styleOfStatus(status: string): Style {
  return STYLES[status] ?? 'bold';
}
