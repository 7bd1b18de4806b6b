import type { Settings } from '../../config/index.ts';
import type { Watched, WatchedFleet } from './glance.ts';

/**
 * What the fleet does again and again by itself, in one list.
 *
 * `runs` says where a round is done:
 * - `job`: by one process of the fleet, as a repeatable job on `maintenance`
 * - `lease`: by the process that has the lease of such chores, which costs no job; another takes over when that is gone
 * - `process`: by each process that has it, because each step does nothing the second time
 */
export interface ChoreDefinition {
  readonly runs: 'job' | 'lease' | 'process';
  /** The services that have it. */
  readonly by: readonly ChoreService[];
  /** Between two rounds. */
  readonly everyMs: (settings: Settings) => number;
  /** Of a chore that is no job: while none of these keys is there it has nothing to do, and a round is no more than a look at them. */
  readonly watches?: Watched;
  readonly watchesFleet?: WatchedFleet;
  /** What holds as long as it runs, for people: a sentence. */
  readonly guarantees: string;
}

export type ChoreService = 'worker' | 'api';

const WORKER = ['worker'] as const;
/** Heartbeats between two searches for other workers. */
const BEATS_PER_SEARCH = 3;
const NO_ARCHIVE_MS = 600_000;

export const CHORES = {
  'reclaim-attempts': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.orphanCheckIntervalMs,
    watches: ['leases'],
    guarantees: 'A task whose attempt lost its lease goes on elsewhere, or ends with `WORKER_LOST`.',
  },
  'reissue-tickets': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.orphanCheckIntervalMs,
    watches: ['outbox'],
    guarantees: 'A ticket that stayed in the outbox comes to its queue.',
  },
  'release-lost-claims': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.orphanCheckIntervalMs,
    watches: ['leases'],
    guarantees: 'A task that was claimed for this worker without an answer returns to its queue.',
  },
  'continue-cancels': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.orphanCheckIntervalMs,
    watches: ['openCancels'],
    guarantees: 'A cancel reaches all sub-tasks, also when its process died on the way.',
  },
  'see-to-waits': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.orphanCheckIntervalMs,
    watches: ['waits'],
    guarantees:
      'What a suspended run waits for is known to those who can bring it, and resumes it when it came before, also when its process died.',
  },
  'send-events': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.orphanCheckIntervalMs,
    watches: ['openEvents'],
    guarantees: 'An event comes to all runs that wait for it, also when the process that sent it died.',
  },
  'follow-sub-tasks': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.orphanCheckIntervalMs,
    watches: ['ended'],
    guarantees: 'A run that waits for sub-tasks goes on when they have ended, also by a cancel or with a process.',
  },
  'promote-due': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => worker.duePollMs,
    watches: ['due'],
    guarantees: "A task that waits for a time starts when that has come by Redis's clock; known times are met exactly.",
  },
  'release-providers': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ throttle }) => throttle.pumpMs,
    guarantees: 'Tasks that wait for a provider are released in their turn when their calls may go.',
  },
  'run-model-batches': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 1000,
    watchesFleet: ['modelBatches', 'modelBatchGroups'],
    guarantees:
      'A model call of a task with `within` goes by a batch of its provider, once, and its run goes on with the answer or without it in time.',
  },
  'share-fleet-caps': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ fleet }) => fleet.shareMs,
    guarantees: "The fleet's cap is divided among its shards, and its caps on what runs among its tenants, by demand and weight.",
  },
  'follow-ended-runs': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ scheduler }) => scheduler.followEndedAfterMs,
    watches: ['ended'],
    guarantees: 'A schedule learns of the ends of its runs, also in a fleet without a scheduler.',
  },
  'expect-suspects': {
    runs: 'process',
    by: WORKER,
    everyMs: ({ worker }) => BEATS_PER_SEARCH * worker.heartbeatIntervalMs,
    guarantees: 'A process is ready for tasks of other workers that are lost.',
  },
  'watch-workers': {
    runs: 'lease',
    by: ['worker', 'api'],
    everyMs: ({ worker }) => worker.heartbeatIntervalMs,
    guarantees: 'Operators are notified of workers that are lost and of queues that no worker serves.',
  },
  'watch-daemons': {
    runs: 'process',
    by: ['api'],
    everyMs: ({ hub }) => hub.heartbeatMs * hub.missedHeartbeats,
    guarantees: 'Daemons that are lost with their hub are offline, and their tenants are notified.',
  },
  'look-for-findings': {
    runs: 'lease',
    by: ['api'],
    everyMs: () => 15_000,
    guarantees: 'What a person should know of is found, kept and published while nobody looks.',
  },
  'run-batches': {
    runs: 'lease',
    by: ['api'],
    everyMs: () => 1000,
    watches: ['openBatches'],
    guarantees: "A batch of OpenAI's protocol comes to its end: its requests become tasks, and their answers a file.",
  },
  'restart-jobs': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 120_000,
    guarantees: 'Each repeatable job of this list is there, also when a worker died between two of its ticks.',
  },
  'audit-tickets': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ worker }) => worker.ticketAuditMs,
    guarantees: 'A task whose ticket vanished has another one.',
  },
  'remove-tickets': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ worker }) => worker.ticketAuditMs,
    guarantees: 'No ticket of a task that has ended counts as work.',
  },
  'watch-deadlines': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 10_000,
    watches: ['deadlines'],
    guarantees: 'A task whose deadline is near becomes critical, and one whose deadline has passed ends as `stale`.',
  },
  'watch-slas': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 10_000,
    watches: ['slas'],
    guarantees: 'A task that misses its sla is counted and published, once.',
  },
  'watch-pressure': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 5000,
    guarantees: 'The pressure of tenants and of the fleet also falls while no task comes.',
  },
  'sample-metrics': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 15_000,
    guarantees: 'The history has what ran and waited in each minute.',
  },
  'promote-backlogs': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 1000,
    guarantees: 'No lane or cap that has room has tasks that wait for it: limits were raised, or a step left more than it could.',
  },
  'apply-closed-queues': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 5000,
    guarantees: 'Tasks of queues that are paused or not served leave their places to others, and come back.',
  },
  'release-holds': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 2000,
    guarantees: 'Tasks go on when the budget that holds them has room or denies them, or when what held them is gone.',
  },
  'run-actions': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ actions }) => actions.pollMs,
    watches: ['actionsDue', 'erasuresDue'],
    guarantees: 'An action upon many tasks comes to its end, and so does an erasure, whichever process died meanwhile.',
  },
  'remind-of-questions': {
    runs: 'lease',
    by: WORKER,
    everyMs: () => 10_000,
    guarantees: 'People are notified again of questions that stay open, and once a day of all that are.',
  },
  'release-circuits': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ circuits }) => circuits.checkMs,
    watches: ['circuitsDue'],
    guarantees: 'One task at a time tries an endpoint that failed.',
  },
  'clean-tenants': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ tenants }) => tenants.cleanMs,
    guarantees: 'Nothing is left of a deleted tenant.',
  },
  'remove-files': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ files }) => files.sweepMs,
    guarantees: 'Files go with the last task that has them, and uploads without a task in time.',
  },
  'seal-secrets': {
    runs: 'job',
    by: WORKER,
    everyMs: () => 300_000,
    guarantees: 'Secrets of hooks, callbacks and agents are sealed with the key of now, also those of before.',
  },
  'snapshot-machine': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ fleet }) => fleet.snapshotMs,
    guarantees: 'The fleet has a series of what its machines and lanes did.',
  },
  'index-tasks': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ search }) => search.indexMs,
    guarantees: 'Tasks that an older release ended are found by how they ended.',
  },
  'trim-tasks': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ tasks }) => tasks.trimMs,
    guarantees: 'Ended tasks are kept no longer, and no more of them, than the configuration says.',
  },
  'archive-tasks': {
    runs: 'lease',
    by: WORKER,
    everyMs: ({ archive }) => archive?.everyMs ?? NO_ARCHIVE_MS,
    guarantees: 'Long parts of tasks that ended a while ago are in the archive, if there is one, and nothing is in it that no task has.',
  },
} as const satisfies Record<string, ChoreDefinition>;

export type ChoreName = keyof typeof CHORES;
type ChoresOf<Service extends ChoreService> = {
  [Name in ChoreName]: Service extends (typeof CHORES)[Name]['by'][number] ? Name : never;
}[ChoreName];

/** One round of a chore. A long one ends at a step when the signal aborts; what it leaves is for the next. */
export interface Round {
  readonly signal: AbortSignal;
}

/** Does one bounded round. Resolves with when the next one is due, ms from now, where that is not the usual time. */
export type ChoreHandler = (round: Round) => Promise<number | void>;

export type ChoreHandlers<Service extends ChoreService> = Readonly<Record<ChoresOf<Service>, ChoreHandler>>;

export function definitionOf(name: ChoreName): ChoreDefinition {
  return CHORES[name];
}

export function isChoreName(name: string): name is ChoreName {
  return Object.hasOwn(CHORES, name);
}

export function choreNames(): ChoreName[] {
  return Object.keys(CHORES).filter(isChoreName);
}
