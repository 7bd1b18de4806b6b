import type { TaskQueue } from '#shared/config/index.ts';
import { countPast, releaseByBudgets } from '#shared/budgets/index.ts';
import {
  applyLimits,
  divideCap,
  findLimited,
  releaseUncaused,
  RunningTasks,
  TaskArchiving,
  tenantsWithTasks,
} from '#shared/ledger/index.ts';
import { remindOfQuestions } from '#shared/events/index.ts';
import { releaseCircuits } from '#shared/models/index.ts';
import { openModelBatches, type Parts } from '#shared/lifecycle/index.ts';
import {
  applyClosedQueues,
  type ChoreHandlers,
  hasOtherWorker,
  isHeldForWorker,
  makeRoom,
  watchWorkersOnce,
  type WatchWorkersPorts,
} from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { sealAllSecrets } from '#shared/tenants/index.ts';
import { followEndedRuns, type ScheduleParts } from '#shared/schedules/index.ts';
import { followSubTasks } from '#shared/waits/index.ts';
import type { IsolationPool } from '../isolation/isolation-pool.ts';
import { type RemovalOffsets, removeTickets, TicketAudit } from './audit-tickets.ts';
import { cleanTenants } from './clean-tenants.ts';
import { continueCancels } from './continue-cancels.ts';
import { eachShard } from './each-shard.ts';
import { TaskIndexing } from './index-tasks.ts';
import { promoteDueTasks } from './promote-due.ts';
import type { Reclaimer } from './reclaimer.ts';
import { type LostClaimPorts, releaseLostClaims } from './release-lost-claims.ts';
import { releaseProviders } from './release-providers.ts';
import { runDueActions } from './run-actions.ts';
import { sampleMetrics } from './sample-metrics.ts';
import { seeToWaits, sendEvents } from './see-to-waits.ts';
import { shareFleetCaps } from './share-fleet-caps.ts';
import { MachineSnapshots } from './snapshot-machine.ts';
import { trimTasks } from './trim-tasks.ts';
import { watchDeadlines } from './watch-deadlines.ts';
import { watchPressure } from './watch-pressure.ts';
import { watchSlas } from './watch-slas.ts';

/** Between two rounds while no tenant has a task that has not ended: what comes gets at its acceptance what it can. */
const QUIET_MS = 10_000;
/** Tasks of one tenant and hold that one round of the chore releases. */
const MAX_RELEASED = 50;

export interface WorkerChoresOptions {
  /** As records show it. */
  worker: string;
  keeper: LostClaimPorts['keeper'];
  pool: Pick<IsolationPool, 'expect'>;
  reclaimer: Reclaimer;
  schedules: ScheduleParts;
  onNotice: WatchWorkersPorts['onNotice'];
  /** Makes the repeatable jobs. */
  restartJobs: () => Promise<void>;
}

/** What a worker does for each chore of the list. */
export function workerChores(parts: Parts, options: WorkerChoresOptions): ChoreHandlers<'worker'> {
  return { ...ownChores(parts, options), ...fleetChores(parts) };
}

type OwnChores =
  | 'restart-jobs'
  | 'reclaim-attempts'
  | 'reissue-tickets'
  | 'release-lost-claims'
  | 'continue-cancels'
  | 'see-to-waits'
  | 'send-events'
  | 'follow-sub-tasks'
  | 'promote-due'
  | 'release-providers'
  | 'run-model-batches'
  | 'share-fleet-caps'
  | 'follow-ended-runs'
  | 'expect-suspects'
  | 'watch-workers';

/** A worker keeps no process ready for suspects before: two starts at a time take twice as long, and in a rollout every worker starts. */
const READY_AFTER_MS = 10_000;

function ownChores(parts: Parts, options: WorkerChoresOptions): Pick<ChoreHandlers<'worker'>, OwnChores> {
  const { redis, keys, ledger } = parts;
  const { worker, pool, reclaimer, onNotice } = options;
  const fleet = { redis, keys, settings: parts.config.settings };
  const runBatches = openModelBatches(parts);
  const startedAt = performance.now();
  const isHeld = (queue: TaskQueue): Promise<boolean> => isHeldForWorker(parts, queue);
  return {
    'reclaim-attempts': () => reclaimer.reclaimAttempts(),
    'reissue-tickets': () => reclaimer.reissueTickets(),
    'release-lost-claims': () => releaseLostClaims({ ...parts, ...options }),
    'continue-cancels': ({ signal }) => continueCancels(parts, signal),
    'see-to-waits': ({ signal }) => seeToWaits(parts, signal),
    'send-events': ({ signal }) => sendEvents(parts, signal),
    'follow-sub-tasks': () => eachShard(keys, (shard) => followSubTasks(parts, shard)),
    'promote-due': () => promoteDueTasks(parts),
    'release-providers': () => releaseProviders(ledger),
    'run-model-batches': async ({ signal }) => await runBatches(signal),
    'share-fleet-caps': async () => {
      await divideCap(ledger);
      await shareFleetCaps(parts);
    },
    'follow-ended-runs': () => followRuns(options.schedules),
    'expect-suspects': async () => {
      const earlyMs = startedAt + READY_AFTER_MS - performance.now();
      if (earlyMs > 0) return earlyMs;
      pool.expect(await hasOtherWorker(fleet, worker));
      return undefined;
    },
    'watch-workers': () => watchWorkersOnce({ ...parts, ...fleet, isHeld, onNotice }),
    'restart-jobs': options.restartJobs,
  };
}

function fleetChores(parts: Parts): Omit<ChoreHandlers<'worker'>, OwnChores> {
  const audit = new TicketAudit(parts);
  const offsets: RemovalOffsets = new Map();
  const snapshots = new MachineSnapshots(parts.ledger);
  const indexing = new TaskIndexing(parts);
  const archiving = new TaskArchiving(parts);
  return {
    'audit-tickets': () => audit.run(),
    'remove-tickets': () => removeTickets(parts, offsets),
    'watch-deadlines': () => watchDeadlines(parts),
    'watch-slas': () => watchSlas(parts),
    'watch-pressure': () => watchPressure(parts),
    'sample-metrics': () => sampleMetrics(parts),
    'promote-backlogs': () => applyAllLimits(parts),
    'apply-closed-queues': () => applyAllClosedQueues(parts),
    'release-holds': () => releaseAllHolds(parts),
    'run-actions': () => runDueActions(parts),
    'remind-of-questions': () => remindOfQuestions(parts),
    'release-circuits': () => releaseCircuits(parts.ledger),
    'clean-tenants': () => cleanTenants(parts),
    'remove-files': () => removeUnusedFiles(parts),
    'seal-secrets': () => sealAllSecrets(parts),
    'snapshot-machine': () => snapshots.run(),
    'index-tasks': () => indexing.run(),
    'trim-tasks': () => trimTasks(parts),
    'archive-tasks': ({ signal }) => archiving.run(signal),
  };
}

/** Follows ends that waited longer than `scheduler.followEndedAfterMs`: no scheduler does. */
async function followRuns(schedules: ScheduleParts): Promise<void> {
  const before = (await schedules.now()) - schedules.settings.scheduler.followEndedAfterMs;
  await eachShard(schedules.keys, (shard) => followEndedRuns(schedules, shard, before));
}

/** Removes uploads that expired without a task, and files whose tasks are not kept any more. */
async function removeUnusedFiles({ files, redis, log }: Pick<Parts, 'files' | 'redis' | 'log'>): Promise<void> {
  const removed = await files.removeUnused(await redisNow(redis));
  if (removed > 0) log.info({ event: 'files.removed', files: removed }, 'files that no task has were removed');
}

/**
 * Grants tasks that wait for lanes and caps which have room: limits were raised, this process knew them before others, or a step left more than it
 * could. Makes room for critical ones that came to the caps otherwise than by acceptance, or whose process died before it did.
 */
export async function applyAllLimits({ ledger, tenants, log }: Pick<Parts, 'ledger' | 'tenants' | 'log'>): Promise<number | void> {
  const running = new RunningTasks(ledger);
  const busy = await tenantsWithTasks(ledger, tenants.list(), 'live');
  if (busy.size === 0) return QUIET_MS;
  for (const id of await findLimited(ledger, [...busy.keys()])) {
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
async function applyAllClosedQueues(parts: Pick<Parts, 'ledger' | 'queues' | 'tenants' | 'log'>): Promise<number | void> {
  const { ledger, queues, tenants, log } = parts;
  const busy = await tenantsWithTasks(ledger, tenants.list(), 'live');
  if (busy.size === 0) return QUIET_MS;
  const { held, released } = await applyClosedQueues({ ledger, queues }, [...busy.keys()]);
  if (held + released > 0)
    log.info({ event: 'queue.closed-applied', held, released }, 'tasks of closed queues left their places to others, or came back');
}

/**
 * Releases tasks whose hold is over otherwise than by a change through the API: their budget has room or denies now, the configuration changed, a
 * call cost less than it reserved, what held them is gone, or a process died before it released them all. Budgets that are new in the configuration
 * count what their windows had cost.
 */
async function releaseAllHolds(parts: Pick<Parts, 'ledger' | 'budgets' | 'tenants' | 'log'>): Promise<number | void> {
  const { ledger, budgets, tenants, log } = parts;
  const busy = await tenantsWithTasks(ledger, tenants.list(), 'live');
  if (busy.size === 0) return QUIET_MS;
  for (const id of busy.keys()) {
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
