import { z } from 'zod';
import { commandLimitsSchema } from './command-limits.ts';
import { int } from '../fields.ts';
import { TASK_QUEUES } from '../sources.ts';

/** How workers hold, watch and give up attempts. */
export const workerSettingsSchema = z
  .strictObject({
    /** Tasks that a worker runs at once, over all queues and shards. Defaults to the sum of `queues.<name>.slots`; `MUSTER_QUEUES` wins. */
    slots: z.number().int().min(1).max(10_000).optional(),
    /** Percent of a worker's slots for each range of priorities while several compete: high is 8 and more, low is 2 and less. */
    shares: z.strictObject({ high: int(40), normal: int(35), low: int(15) }).prefault({}),
    /**
     * Slots of a worker that serves `chat` beside other queues which only people use: chats and, in half of them, tasks that somebody waits on
     * (`?waitMs`), one for each key; at most an eighth of its slots, 0 for none. Defaults to 2.
     */
    peopleShare: int(2, 0),
    /** A task of low priority that waited for so long competes as one of normal priority. Defaults to 5 minutes. */
    lowAgeMs: int(300_000, 1000),
    /** How long an attempt is held without a renewal. Two missed renewals (every half of it) make an orphan. */
    leaseMs: int(10_000, 500),
    /** Between an abort and taking the lease away. */
    cancelGraceMs: int(5000, 0),
    /** Between two searches for orphans: attempts whose lease ran out, and cancels that were left. Defaults to 1 s. */
    orphanCheckIntervalMs: int(1000, 100),
    /** Between two heartbeats of a worker. Defaults to 10 s. */
    heartbeatIntervalMs: int(10_000, 100),
    /** Heartbeats that a worker misses before it is reported as lost. Defaults to 2. */
    deadHeartbeatThreshold: int(2),
    /** Age of an outbox entry before another process adds its ticket. */
    outboxSweepMs: int(3000, 100),
    /** Age of a cancel whose process has not reached all sub-tasks before another one continues it. Defaults to 5 s. */
    cancelSweepMs: int(5000, 100),
    /** Granted tasks that waited this long have their ticket looked up, and a new one made when it is gone. */
    ticketAuditMs: int(30_000, 1000),
    /** From so long a block of its event loop on a worker's thread writes down which task it is. Defaults to 3 s. */
    blockedMs: int(3000, 500),
    /** After so long a block the worker's process is ended, which its supervisor starts again; null is never. Defaults to a minute. */
    maxBlockedMs: z.number().int().min(1000).nullable().default(60_000),
    /**
     * Before a task that was lost with its process comes back, also when it finds no isolated process with room: spread over as long again, and
     * twice as long after each further loss. Defaults to 1 s.
     */
    suspectDelayMs: int(1000, 10),
    /** Processes of one worker that start or in which suspects run until they have survived `probationMs`. Defaults to 4. */
    isolatedProcesses: int(4),
    /** Suspects that share such a process after their first loss; from the second on each has its own. Defaults to 32. */
    suspectsPerProcess: int(32),
    /** A suspect that ran for so long no longer counts against `isolatedProcesses`. Defaults to 10 s. */
    probationMs: int(10_000, 100),
    /**
     * How long such a process is kept for the next suspect. While the fleet has another worker, one is kept ready all the time (about 200 MB),
     * from 10 s after the start of its worker on; with 0 none is, and lost tasks wait for a start. Defaults to 30 s.
     */
    isolatedIdleMs: int(30_000, 0),
    /** Megabytes of heap of a process for suspects; by default what Node gives any process. */
    isolatedHeapMb: z.number().int().min(32).optional(),
    /**
     * So often in a row a run may be interrupted by workers that end, without a step or session that is kept in between, before its task is held until
     * a person retries it; null is never. Defaults to 5.
     */
    maxInterruptions: z.number().int().min(1).nullable().default(5),
    /** Longest time between two reads of tasks whose time has come; known times are met exactly. Defaults to 500 ms. */
    duePollMs: int(500, 10),
    /** Ended tickets kept per queue, for Bull Board. */
    keepCompletedTickets: int(1000, 0),
    keepFailedTickets: int(5000, 0),
  })
  .prefault({});

/** What is kept of workers and their machines. */
export const fleetSettingsSchema = z.strictObject({
  /** How long a lost worker is listed as dead after its last heartbeat. Defaults to an hour. */
  deadRetentionMs: int(3_600_000, 0),
  /** Between two divisions of the fleet's running caps among its tenants; a share holds three times as long. Defaults to a second. */
  shareMs: int(1000, 20),
  /** Workers of which a record is kept, dead ones included; the longest dead go first. Defaults to 1000. */
  maxWorkers: int(1000),
  /** Daemons that `GET /v1/fleet` lists, connected ones first. Defaults to 1000. */
  maxDaemons: int(1000),
  /** Between two snapshots of a machine and of what the fleet runs. Defaults to a minute. */
  snapshotMs: int(60_000, 100),
  /** Snapshots that are kept. Defaults to 120, two hours of them. */
  maxSnapshots: int(120),
});

const queueSettings = z.strictObject({
  /** Slots of a worker that this queue is sure of; 0 leaves the queue out. What it does not use, other queues do. */
  slots: z.number().int().min(0).max(1000),
  /** At most `max` tickets started per `durationMs`, over all workers of the fleet. */
  limiter: z.strictObject({ max: z.number().int().min(1), durationMs: z.number().int().min(1) }).optional(),
});

/** What the workers give each queue. */
export const queueSettingsSchema = z.partialRecord(z.enum([...TASK_QUEUES, 'deliveries', 'replies', 'maintenance']), queueSettings);

/** How a process sees that it stopped taking jobs of a queue, and what it does then. */
export const consumerSettingsSchema = z.strictObject({
  /** Longest wait of a process before it looks into its queue again, should no wake-up reach it. Slots look for tasks every second all the same. */
  pollMs: int(30_000, 100),
  /** Between two checks of each queue that the process takes jobs of. */
  watchMs: int(1000, 50),
  /**
   * A queue that has waiting jobs and whose connection was not answered for so long has stopped, and is opened again. Must be longer than
   * 8 s, and than `pollMs` where that is less; without waiting jobs it is three times as long.
   */
  stoppedAfterMs: int(10_000, 100),
  /**
   * The process ends when a queue or subscription was reopened so often in a row without effect, or a connection failed so often by itself.
   */
  maxReopens: int(4),
  /**
   * Between two checks of the connection for commands, and between two echoes by which a process checks its subscription. Three lost echoes
   * in a row reopen the subscription.
   */
  echoMs: int(3000, 50),
});

/** What accepted work needs of Redis. */
export const redisSettingsSchema = z.strictObject({
  /** Whether processes start on a Redis whose `maxmemory-policy` evicts, and so throws accepted work away once its memory is full. */
  allowEviction: z.boolean().default(false),
  /**
   * What an accepted task outlives when the machine of Redis loses power. `server`: what `appendfsync` of Redis says. `always`: everything; processes start
   * only where Redis has `appendfsync always`. `waitaof`: everything, since senders are answered once `WAITAOF` (Redis 7.2) says that it is on disk.
   */
  durability: z.enum(['server', 'always', 'waitaof']).default('server'),
  /** How long `waitaof` waits for the disk before the sender gets 503 `unavailable.fsync`. Defaults to 2 s: `everysec` takes up to one. */
  durabilityTimeoutMs: int(2000, 10),
});

export type ConsumerSettings = z.infer<typeof consumerSettingsSchema>;

/** A user or group of the system by number, or `own`: that of Muster's process. */
const systemUserSchema = z.union([z.literal('own'), z.number().int().min(0).max(4_294_967_294)]);

/** How `command` agents are run, whichever they are. */
export const commandSettingsSchema = z.strictObject({
  /**
   * The users that programs run as, one for each attempt, so that they can read nothing of the fleet's or of each other's: `count` numbers from
   * `first`, which nothing else on the machine may have. Needs a worker that runs as root on Linux, and is the default there, with numbers that
   * no distribution uses.
   */
  users: z.strictObject({ first: z.number().int().min(1).max(4_294_967_294), count: z.number().int().min(1).max(1_000_000) }).optional(),
  /**
   * One user for all programs instead, or `own`; `MUSTER_COMMAND_UID` wins. Another user needs a worker that runs as root. Defaults to `own`
   * where attempts get no users of their own.
   */
  uid: systemUserSchema.optional(),
  /**
   * Programs that run as one user can read and change what others of them have. Commands of one tenant at a time run on a worker then, unless
   * this says that it is known.
   */
  sharedUser: z.boolean().default(false),
  /** The group of programs. Defaults to the number of the user. */
  gid: z.number().int().min(0).max(4_294_967_294).optional(),
  /**
   * Where attempts get cgroups (version 2) of their own: `auto` is below the cgroup of this process, where it may write there; else the path
   * of a folder; `off` is nowhere. Without one, limits are rlimits and polls, and processes are found by what they inherit.
   */
  cgroup: z.union([z.enum(['auto', 'off']), z.string().startsWith('/')]).default('auto'),
  /** What one attempt may use; an agent's own `limits` win. */
  limits: commandLimitsSchema.prefault({}),
  /**
   * Words that every program is started with in front of its own, as those of `bwrap` or `docker run`; an agent's own `sandbox` wins. In them
   * `{dir}`, `{work}`, `{home}`, `{tmp}`, `{cwd}` are folders, `{name}` is unique, and a word with `{variable}` is repeated for each variable.
   */
  sandbox: z.array(z.string()).default([]),
  /** A command that runs after each sandboxed attempt, and ends what the sandbox may have left elsewhere: `['docker', 'rm', '--force', '{name}']`. */
  sandboxEnd: z.array(z.string()).default([]),
  /** Where each attempt gets a folder of its own. Defaults to the system's folder for temporary files. */
  folder: z.string().min(1).optional(),
  /** Between SIGTERM and SIGKILL. Keep it under `worker.cancelGraceMs`. */
  killGraceMs: int(2000, 0),
  /** A coding agent that has answered is ended after so long, if it does not end by itself: its tools may hold it open. */
  answeredMs: int(3000, 10),
  /**
   * A coding agent that asks for a permission goes on running for so long while people are asked, in its slot; then it is ended, and started again with the
   * answer. 0 ends it at once.
   */
  permissionWaitMs: int(60_000, 0),
  /** `codex app-server` has so long to answer each of the requests that begin its run. */
  handshakeMs: int(60_000, 100),
  /** How long killed processes may take to be gone before the attempt ends without them. */
  endMs: int(5000),
  /** Between two reads of what running programs have started: what leaves them later is known by it. */
  pollMs: int(1000, 50),
  /** Of what a program writes to stderr, the end is kept for the attempt's record. */
  maxStderrBytes: int(4096),
  /** What is kept of coding agents' sessions and of their working folders, for the next attempt and the next turn. */
  sessions: z
    .strictObject({
      /** Bytes of the files of one together. A working folder that does not fit is left out. */
      maxBytes: int(67_108_864),
      /** Between two looks whether there is something new, while the program runs. A killed worker loses what came since. */
      keepEveryMs: int(10_000, 50),
    })
    .prefault({}),
});

export type CommandSettings = z.infer<typeof commandSettingsSchema>;

/** What programs leave for the next run of their session. */
export const workspaceSettingsSchema = z.strictObject({
  /** How long after the last run the working folder and the session of a program are kept; no longer than the last task that ran in them. */
  keepMs: int(604_800_000, 1000),
});
