import { countPast, releaseByBudgets } from '#shared/budgets/index.ts';
import { applyLimits, releaseUncaused, RunningTasks, tenantsWithTasks } from '#shared/ledger/index.ts';
import { releaseCircuits } from '#shared/models/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { applyClosedQueues, ChoreWorker, type JobSource, makeRoom, slotsOf } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { cleanTenants } from './clean-tenants.ts';
import { runDueActions } from './run-actions.ts';
import { TaskIndexing } from './index-tasks.ts';
import { type RemovalOffsets, removeTickets, TicketAudit } from './audit-tickets.ts';
import { sampleMetrics } from './sample-metrics.ts';
import { MachineSnapshots } from './snapshot-machine.ts';
import { trimTasks } from './trim-tasks.ts';
import { watchDeadlines } from './watch-deadlines.ts';
import { watchPressure } from './watch-pressure.ts';
import { watchSlas } from './watch-slas.ts';

const DEADLINES_EVERY_MS = 10_000;
const PRESSURE_EVERY_MS = 5000;
/** Several in a minute: its greatest values are kept. */
const SAMPLES_EVERY_MS = 15_000;
const PROMOTE_EVERY_MS = 5000;
const HOLDS_EVERY_MS = 2000;
/** Tasks of one tenant and hold that one round of the chore releases. */
const MAX_RELEASED = 50;

/** The fleet's own chores, on workers that serve the queue `maintenance`. */
export function openChores(parts: Parts, source: JobSource): ChoreWorker[] {
  const { settings, env } = parts.config;
  if (!slotsOf(settings, env.MUSTER_QUEUES).get('maintenance')) return [];
  const audit = new TicketAudit(parts);
  const offsets: RemovalOffsets = new Map();
  const snapshots = new MachineSnapshots(parts.ledger);
  const indexing = new TaskIndexing(parts);
  const chores = [
    { name: 'audit-tickets', everyMs: settings.worker.ticketAuditMs, run: () => audit.run() },
    { name: 'remove-tickets', everyMs: settings.worker.ticketAuditMs, run: () => removeTickets(parts, offsets) },
    { name: 'watch-deadlines', everyMs: DEADLINES_EVERY_MS, run: () => watchDeadlines(parts) },
    { name: 'watch-slas', everyMs: DEADLINES_EVERY_MS, run: () => watchSlas(parts) },
    { name: 'watch-pressure', everyMs: PRESSURE_EVERY_MS, run: () => watchPressure(parts) },
    { name: 'sample-metrics', everyMs: SAMPLES_EVERY_MS, run: () => sampleMetrics(parts) },
    { name: 'promote-backlogs', everyMs: PROMOTE_EVERY_MS, run: () => applyAllLimits(parts) },
    { name: 'apply-closed-queues', everyMs: PROMOTE_EVERY_MS, run: () => applyAllClosedQueues(parts) },
    { name: 'release-holds', everyMs: HOLDS_EVERY_MS, run: () => releaseAllHolds(parts) },
    { name: 'run-actions', everyMs: settings.actions.pollMs, run: () => runDueActions(parts) },
    { name: 'release-circuits', everyMs: settings.circuits.checkMs, run: () => releaseCircuits(parts.ledger) },
    { name: 'clean-tenants', everyMs: settings.tenants.cleanMs, run: () => cleanTenants(parts) },
    { name: 'remove-files', everyMs: settings.files.sweepMs, run: () => removeUnusedFiles(parts) },
    { name: 'snapshot-machine', everyMs: settings.fleet.snapshotMs, run: () => snapshots.run() },
    { name: 'index-tasks', everyMs: settings.search.indexMs, run: () => indexing.run() },
    { name: 'trim-tasks', everyMs: settings.tasks.trimMs, run: () => trimTasks(parts) },
  ];
  return [new ChoreWorker({ chores, source })];
}

/** Removes uploads that expired without a task, and files whose tasks are not kept any more. */
async function removeUnusedFiles({ files, redis, log }: Pick<Parts, 'files' | 'redis' | 'log'>): Promise<void> {
  const removed = await files.removeUnused(await redisNow(redis));
  if (removed > 0) log.info({ event: 'files.removed', files: removed }, 'files that no task has were removed');
}

/**
 * Grants tasks that waited for limits that were raised: else they would wait for the end of another task. Makes room for critical ones that
 * came to the caps otherwise than by acceptance, or whose process died before it did.
 */
export async function applyAllLimits({ ledger, tenants, log }: Pick<Parts, 'ledger' | 'tenants' | 'log'>): Promise<void> {
  const running = new RunningTasks(ledger);
  for (const id of (await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()) {
    try {
      const tasks = await applyLimits(ledger, id, running);
      await makeRoom({ ledger, log }, id);
      if (tasks > 0) log.info({ event: 'tenant.promoted', tenant: id, tasks }, 'its limits have room for waiting tasks');
    } catch (error) {
      log.error({ err: error, tenant: id }, 'the limits of a tenant could not be applied to what waits');
    }
  }
}

/**
 * Holds what waits in queues that an operator paused in Bull Board or that lost their last worker, and what came to them since; releases what
 * was resumed there or has a worker again.
 */
async function applyAllClosedQueues({ ledger, queues, tenants, log }: Pick<Parts, 'ledger' | 'queues' | 'tenants' | 'log'>): Promise<void> {
  const busy = await tenantsWithTasks(ledger, tenants.list(), 'live');
  const { held, released } = await applyClosedQueues({ ledger, queues }, [...busy.keys()]);
  if (held + released > 0)
    log.info({ event: 'queue.closed-applied', held, released }, 'tasks of closed queues left their places to others, or came back');
}

/**
 * Releases tasks whose hold is over otherwise than by a change through the API: their budget has room or denies now, the configuration changed, a
 * call cost less than it reserved, what held them is gone, or a process died before it released them all. Budgets that are new in the configuration
 * count what their windows had cost.
 */
async function releaseAllHolds({ ledger, budgets, tenants, log }: Pick<Parts, 'ledger' | 'budgets' | 'tenants' | 'log'>): Promise<void> {
  for (const id of (await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()) {
    try {
      for (const budget of budgets.takeConfigured(id)) await countPast(ledger, id, budget);
      const tasks = await releaseByBudgets(ledger, budgets, id, MAX_RELEASED);
      if (tasks > 0) log.info({ event: 'budget.released', tenant: id, tasks }, 'its budgets have room for held tasks');
      const uncaused = await releaseUncaused(ledger, id, MAX_RELEASED);
      if (uncaused > 0) log.info({ event: 'hold.released', tenant: id, tasks: uncaused }, 'what held its tasks is gone');
    } catch (error) {
      log.error({ err: error, tenant: id }, 'the held tasks of a tenant could not be released');
    }
  }
}
