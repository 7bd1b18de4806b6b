import { type TickClock, tickOf } from '#shared/queue/index.ts';
import { followEndedRuns, reconcileTenant, type ScheduleParts, reconcileSchedules, type ZoneWatch } from '#shared/schedules/index.ts';
import { Ticker } from '#shared/time/index.ts';

interface ClockWatchOptions {
  parts: ScheduleParts;
  clock: TickClock;
  zones: ZoneWatch;
  /** Fires what is due in a shard. */
  fire: (shard: number) => Promise<void>;
}

/** What is overdue for so long is fired by any process: the one that had a timer for it may be gone. */
const STANDBY_MS = 1000;
/** Looks between two searches for runs that ended. */
const LOOKS_PER_FOLLOWING = 2;
/** Between two checks of the clock while no schedule is overdue. */
const CHECK_CLOCK_EVERY_MS = 10_000;

/**
 * ClockWatch is responsible for what the clock cannot do itself. A timer in every process restarts a silent clock, fires overdue schedules,
 * follows runs that ended, and resumes the schedules of an enabled tenant.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #ticker: Ticker;
  /** Monotonic, ms. */
  #clockCheckedAt = -Infinity;
  #disabledTenants = new Set<string>();
  #looks = 0;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    const { settings, log } = options.parts;
    this.#ticker = new Ticker({
      everyMs: settings.scheduler.watchMs,
      run: () => this.#watchAll(),
      onError: (error) => log.debug({ err: error }, 'the clock could not be watched now'),
    });
  }

  start(): void {
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #watchAll(): Promise<void> {
    const { parts, zones } = this.#options;
    const { isOutdated, hasOutdated } = await zones.read();
    if (isOutdated) return;
    const { silentMs } = parts.settings.scheduler;
    const isCheckDue = performance.now() - this.#clockCheckedAt >= CHECK_CLOCK_EVERY_MS;
    if (isCheckDue) this.#clockCheckedAt = performance.now();
    for (let shard = 0; shard < parts.keys.shards; shard += 1) {
      await this.#watchShard(shard, { isCheckDue, graceMs: hasOutdated ? 0 : Math.min(STANDBY_MS, silentMs) });
      if (this.#looks % LOOKS_PER_FOLLOWING === 0) await followEndedRuns(parts, shard);
    }
    this.#looks += 1;
    await this.#resumeTenants();
  }

  /** `graceMs`: for how long a due schedule is left to the process that has a timer for it. */
  async #watchShard(shard: number, { isCheckDue, graceMs }: { isCheckDue: boolean; graceMs: number }): Promise<void> {
    const { parts, clock, fire } = this.#options;
    const dueAt = await parts.store.due.next(shard);
    if (dueAt === null && !isCheckDue) return;
    const now = await parts.now();
    const isOverdue = dueAt !== null && dueAt < now - graceMs;
    if (!isOverdue && !isCheckDue) return;
    const next = await clock.nextTick(tickOf(shard));
    if (next === null || next < now - parts.settings.scheduler.silentMs) {
      parts.log.warn({ event: 'clock.silent', shard, next, dueAt }, 'the clock is silent; restarted');
      await clock.restart(tickOf(shard));
    }
    if (isOverdue) await fire(shard);
  }

  /** A tenant that this process did not see disabled is handled when the records are reconciled. */
  async #resumeTenants(): Promise<void> {
    const { parts } = this.#options;
    const tenants = parts.tenants.list();
    const enabled = tenants.filter(({ id, disabled }) => !disabled && this.#disabledTenants.has(id));
    for (const { id } of enabled) {
      await reconcileTenant(parts, id);
      parts.log.info({ event: 'tenant.schedules-resumed', tenant: id }, 'a tenant is enabled again; its schedules are resumed');
    }
    this.#disabledTenants = new Set(tenants.filter(({ disabled }) => disabled).map(({ id }) => id));
  }
}

/** Processes that start together reconcile once. */
const START_SHARE_MS = 2000;

/**
 * Reconciler is responsible for repairing the clock's repeatable jobs and the due times of schedules when another program changed them.
 * It runs at the start and every `scheduler.reconcileMs`, in one of several processes.
 */
export class Reconciler {
  readonly #parts: ScheduleParts;
  readonly #clock: TickClock;
  readonly #zones: ZoneWatch;
  readonly #ticker: Ticker;
  #isFirst = true;

  constructor(parts: ScheduleParts, clock: TickClock, zones: ZoneWatch) {
    this.#parts = parts;
    this.#zones = zones;
    this.#clock = clock;
    this.#ticker = new Ticker({
      everyMs: parts.settings.scheduler.reconcileMs,
      run: () => this.#reconcile(),
      onError: (error) => parts.log.warn({ err: error }, 'the schedules could not be reconciled now'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #reconcile(): Promise<void> {
    const { redis, keys, settings, log } = this.#parts;
    if ((await this.#zones.read()).isOutdated) return;
    const { reconcileMs } = settings.scheduler;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    // Shorter than the period, so that the mark has expired by the next round.
    const shareMs = isFirst ? Math.min(START_SHARE_MS, reconcileMs) : reconcileMs * 0.9;
    const repaired = await this.#clock.repair(settings.scheduler.silentMs, await this.#parts.now());
    // A silent clock is normal at the start: no process ran before.
    const reported = isFirst ? repaired.edited : [...repaired.edited, ...repaired.silent];
    if (reported.length > 0) log.warn({ event: 'clock.repaired', reason: reported.join('; ') }, 'repaired the clock');
    for (let shard = 0; shard < keys.shards; shard += 1) {
      const isOurs = await redis.set(keys.shard(shard).schedulesReconciled, '1', 'PX', Math.floor(shareMs), 'NX');
      if (isOurs !== null) await reconcileSchedules(this.#parts, shard);
    }
  }
}
