import { z } from 'zod';
import type { TenantEvent } from '#shared/events/index.ts';
import { toIso } from '#shared/time/index.ts';

/** What may be told of one entry of the event stream. */
export interface Notice {
  kind: string;
  /** What the entry says of it. */
  data: object;
  /** The task it is about; null for none. */
  task: string | null;
  /** Whether that has to be a schedule's for this to be told. */
  isOfRun: boolean;
}

/** What a step of a task is to the schedule that made it. */
const RUN_KINDS: Readonly<Record<string, string>> = {
  'task.started': 'run.started',
  'task.completed': 'run.completed',
  'task.permanently_failed': 'run.failed',
  'task.cancelled': 'run.failed',
  'task.stale': 'run.failed',
  'task.skipped': 'run.skipped',
};

/** The kinds that an event is told as. */
export function kindsOf(event: string): string[] {
  const asRun = RUN_KINDS[event];
  return asRun === undefined ? [event] : [event, asRun];
}

/** What the writer of an entry knew of its subject. */
const factSchema = z.record(z.string(), z.json());
type Fact = z.infer<typeof factSchema>;

/** What is told of an event besides its kind and time, for those that are about no tasks; by the first word of the event. */
const DETAILS: Readonly<Record<string, (fields: TenantEvent['fields']) => object>> = {
  schedule: ({ schedule = null, number, about, reason }) => ({
    scheduleId: schedule,
    number: number === undefined ? null : Number(number),
    name: null,
    agent: null,
    session: null,
    ...(about ? factSchema.parse(JSON.parse(about)) : {}),
    reason: reason || null,
  }),
  backpressure: ({ depth = 0 }) => ({ queueDepth: Number(depth) }),
  fleet: ({ worker = null, reason }) => ({ worker, reason: reason || null }),
};

/** Everything that may be told of an entry, always in the same order, which a reader's place counts on. */
export function noticesOf({ event, tasks, fields, at: ms }: TenantEvent): Notice[] {
  const at = toIso(ms);
  const [group = ''] = event.split('.', 1);
  if (group === 'task') {
    const facts = factsOf(fields);
    return tasks.flatMap((taskId, position) =>
      kindsOf(event).map((kind) => {
        const data = { kind, at, taskId, ...attemptOf(event, facts[position]) };
        return { kind, data, task: taskId, isOfRun: kind !== event };
      }),
    );
  }
  const tell = DETAILS[group];
  return tell ? [{ kind: event, data: { kind: event, at, ...tell(fields) }, task: null, isOfRun: false }] : [];
}

/** What the entry says of each of its tasks, in their order. */
function factsOf({ facts }: TenantEvent['fields']): (Fact | null)[] {
  return facts === undefined ? [] : factSchema.nullable().array().parse(JSON.parse(facts));
}

/** The events that only a task with an attempt has. What nothing is said of is the first. */
const OF_ATTEMPTS = new Set(['task.started', 'task.completed']);

function attemptOf(event: string, fact: Fact | null | undefined): object {
  return fact ?? (OF_ATTEMPTS.has(event) ? { attempt: 1 } : {});
}
