import { MusterError } from '../../errors/index.ts';
import { listTasks } from '../../ledger/index.ts';
import { acceptTask } from '../../queue/index.ts';
import { newTaskId } from '../../tasks/index.ts';
import { keyOfRun, runRequest } from '../firing/accept-runs.ts';
import { firstDecided, pastOccurrences } from '../firing/occurrences.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { Schedule } from '../store/schedule.ts';
import { changeSchedule } from './change-schedule.ts';

interface BackfillOptions {
  /** The range of occurrences, both ends included, ms since the epoch. */
  since: number;
  until: number;
  /** Only lists what would run. */
  isDryRun: boolean;
  traceparent?: string | undefined;
}

/** An occurrence of the range; `id` is its run's task, null for one that would run. */
export interface BackfilledOccurrence {
  occurrence: number;
  id: string | null;
  isNew: boolean;
}

/**
 * Runs the occurrences of a range that had no run, oldest first, each once however often it is asked; null when there is no such schedule.
 * Occurrences that are still to fire are left to the scheduler. Errors: `schedule.range-too-large`, and those of `acceptTask`.
 */
export async function backfillSchedule(
  parts: ScheduleParts,
  tenant: string,
  idOrNumber: string,
  options: BackfillOptions,
): Promise<BackfilledOccurrence[] | null> {
  const schedule = await parts.store.find(tenant, idOrNumber);
  if (!schedule) return null;
  const occurrences = occurrencesIn(schedule, options, { now: await parts.now(), max: parts.settings.scheduler.maxBackfill });
  const known = occurrences.length === 0 ? new Map<number, string>() : await readRuns(parts, schedule, options.since);
  const backfilled: BackfilledOccurrence[] = [];
  try {
    for (const occurrence of occurrences) {
      const id = known.get(occurrence);
      if (id !== undefined || options.isDryRun) backfilled.push({ occurrence, id: id ?? null, isNew: id === undefined });
      else backfilled.push(await acceptRun(parts, schedule, occurrence, options.traceparent));
    }
  } finally {
    if (!options.isDryRun) await recordRuns(parts, schedule, backfilled);
  }
  return backfilled;
}

function occurrencesIn(schedule: Schedule, { since, until }: BackfillOptions, { now, max }: { now: number; max: number }): number[] {
  // A due occurrence that has not fired yet is the scheduler's, and so is one whose run is decided and not yet accepted.
  const last = Math.min(until, now, (schedule.nextFireAt ?? Infinity) - 1, firstDecided(schedule) - 1);
  const found = pastOccurrences(schedule, { since, until: last, count: max + 1 });
  if (found.length > max) {
    throw new MusterError('schedule.range-too-large', `The range has more than ${max} occurrences; name a shorter one`, {
      details: { max, first: new Date(since).toISOString() },
    });
  }
  return found;
}

/** Bound of the pages of runs that one call reads. */
const MAX_PAGES = 50;
const PAGE = 200;

/** The occurrences since then that had a run, which was not skipped, with its task. */
async function readRuns(parts: ScheduleParts, schedule: Schedule, since: number): Promise<Map<number, string>> {
  const runs = new Map<number, string>();
  let before: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const filter = { source: 'schedule', schedule: schedule.id, since, skipped: false } as const;
    const { items, next } = await listTasks(parts.ledger, schedule.tenant, filter, { limit: PAGE, before });
    for (const { body } of items) if (body.scheduledFor !== null) runs.set(body.scheduledFor, body.id);
    if (next === null) return runs;
    before = next;
  }
  throw new MusterError('schedule.range-too-large', 'The schedule has had too many runs since then; begin the range later', {
    details: { since: new Date(since).toISOString() },
  });
}

async function acceptRun(
  parts: ScheduleParts,
  schedule: Schedule,
  occurrence: number,
  traceparent: string | undefined,
): Promise<BackfilledOccurrence> {
  // Backfilled runs follow each other; none interrupts the one before it.
  const request = runRequest({ ...schedule, overlap: schedule.overlap === 'allow' ? 'allow' : 'queue' }, { id: newTaskId(), occurrence });
  const key = isUndecidedOneShot(schedule) ? keyOfRun(schedule, occurrence) : `${schedule.id}:backfill:${occurrence}`;
  const { id, isDuplicate } = await acceptTask(parts, {
    ...request,
    idempotencyKey: key,
    idempotencyBody: key,
    trigger: 'run-now',
    ...(traceparent === undefined ? {} : { traceparent }),
  });
  return { occurrence, id, isNew: !isDuplicate };
}

/**
 * Its run has the key of a regular one, so that it does not run again when the schedule is resumed after a crash that left the run
 * unrecorded. Any other occurrence of the past may have used up that key by being skipped.
 */
function isUndecidedOneShot({ rule, lastOccurrence }: Schedule): boolean {
  return rule.kind === 'once' && rule.at !== lastOccurrence;
}

async function recordRuns(parts: ScheduleParts, schedule: Schedule, backfilled: readonly BackfilledOccurrence[]): Promise<void> {
  const { tenant, id } = schedule;
  const count = backfilled.filter(({ isNew }) => isNew).length;
  const [run] = isUndecidedOneShot(schedule) ? backfilled : [];
  if (count === 0 && !run) return;
  const now = await parts.now();
  await changeSchedule(parts, tenant, id, {
    change: (current) => {
      // Resumed meanwhile, the scheduler found the run and counted it.
      if (run && run.id === current.lastRunId) return null;
      const counted = { ...current, runCount: current.runCount + count };
      return run ? withOneRun(counted, run, now) : counted;
    },
  });
  if (count > 0) {
    parts.log.info({ event: 'schedule.backfilled', schedule: id, tenant, runs: count }, 'occurrences of a schedule were backfilled');
  }
}

/** The run of a one-shot ends it, as if it had fired at its time. */
function withOneRun(current: Schedule, { occurrence, id }: BackfilledOccurrence, now: number): Schedule {
  // It got another time meanwhile.
  if (current.rule.kind !== 'once' || current.rule.at !== occurrence) return current;
  // Where it was resumed meanwhile, the time is not to be decided any more.
  const times = current.nextFireAt === occurrence ? { nextFireAt: null, wakeAt: null } : {};
  return { ...current, ...times, lastOccurrence: occurrence, lastRunAt: now, lastRunId: id };
}
