import { z } from 'zod';
import { type DelegateCall, executionFields } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { type JournalEntry, type Ledger, readTasks } from '../../ledger/index.ts';
import { taskIdFor, taskRequestSchema } from '../../tasks/index.ts';
import { truncate } from '../../text/index.ts';
import { durationMs } from '../../time/index.ts';

/** What a run asks of a sub-task, as `POST /v1/tasks` takes it. */
const subTaskSchema = taskRequestSchema
  .pick({
    agent: true,
    input: true,
    system: true,
    session: true,
    priority: true,
    deadline: true,
    within: true,
    context: true,
    metadata: true,
  })
  .extend({ timeoutMs: executionFields.timeoutMs });

export type SubTask = z.infer<typeof subTaskSchema>;

const delegatedSchema = z.array(subTaskSchema.extend({ id: z.string() }));

/** A sub-task with its id, which is made of its parent and the entry that waits for it. */
export type NamedSubTask = z.infer<typeof delegatedSchema>[number];

/** Characters of an entry's name. */
const MAX_NAME = 200;

/** The agents of sub-tasks, each once: they name the entry. */
export function agentsOf(calls: readonly DelegateCall[]): string {
  return truncate([...new Set(calls.map(([agent]) => agent))].join(', '), MAX_NAME);
}

/** Errors: AGENT_ERROR for what no task may have. */
export function readCall([agent, input, options = {}]: DelegateCall): SubTask {
  const { timeoutMs, deadline, ...others } = options;
  const { data, error } = subTaskSchema.safeParse({
    agent,
    input,
    ...others,
    ...(timeoutMs !== undefined && { timeoutMs: readDuration(timeoutMs) }),
    ...(deadline !== undefined && { deadline: deadline instanceof Date ? deadline.toISOString() : deadline }),
  });
  if (data) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new TaskFailure('AGENT_ERROR', `A sub-task cannot be made so: ${problems}`, { isFinal: true });
}

/** What is no duration, the schema refuses. */
function readDuration(duration: number | string): number | string {
  try {
    return durationMs(duration);
  } catch {
    return duration;
  }
}

/** Bytes of what an entry keeps of its sub-tasks, their inputs above all. */
const MAX_BYTES = 8 * 1024 * 1024;

/** What an entry keeps of the sub-tasks that it waits for. Errors: STEP_TOO_LARGE. `parent`: its tenant and id, and the number and begin of the entry. */
export function delegationText(parent: { tenant: string; id: string; seq: number; startedAt: number }, tasks: readonly SubTask[]): string {
  const name = `${parent.tenant}/${parent.id}/${parent.seq}`;
  const text = JSON.stringify(tasks.map((task, place) => ({ ...task, id: taskIdFor(name, { ms: parent.startedAt, place }) })));
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_BYTES) return text;
  throw new TaskFailure('STEP_TOO_LARGE', `Sub-tasks are given ${bytes} bytes of JSON in all, and the journal takes ${MAX_BYTES}`);
}

/** The sub-tasks that an entry waits for. */
export function delegatedBy({ wait = '[]' }: JournalEntry): NamedSubTask[] {
  return delegatedSchema.parse(JSON.parse(wait));
}

const STATUSES = ['completed', 'cancelled', 'stale', 'skipped', 'permanently_failed', 'refused'] as const;

const endsSchema = z.array(
  z.object({
    id: z.string(),
    status: z.enum(STATUSES),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  }),
);

/** How a sub-task ended, as the entry of its parent keeps it: what it answered is read of its own record. */
export type SubTaskEnd = z.infer<typeof endsSchema>[number];

/** What became of a sub-task, for its parent. */
export interface SubTaskAnswer extends Omit<SubTaskEnd, 'id'> {
  output: string | null;
  /** JSON. */
  result: unknown;
}

/** What the sub-tasks of an entry came to, in order. What one answered is null once its record is no longer kept. */
export async function readAnswers(ledger: Ledger, tenant: string, { value = '[]' }: JournalEntry): Promise<SubTaskAnswer[]> {
  const ends = endsSchema.parse(JSON.parse(value));
  const tasks = await readTasks(
    ledger,
    tenant,
    ends.map(({ id }) => id),
  );
  return ends.map(({ status, error }, place) => {
    const { output = null, result = null } = (status === 'completed' && tasks[place]) || {};
    return { status, output, result, error };
  });
}
