import type { Settings } from '../../config/index.ts';
import { ChoreLease } from './chore-lease.ts';
import { ChoreLoop } from './chore-loop.ts';
import { ChoreRecords, type ChoreRecordsOptions, readChores } from './chore-records.ts';
import { type ChoreHandler, type ChoreName, type ChoreService, definitionOf } from './chores.ts';
import { Glance } from './glance.ts';

interface ChoreRunnerOptions extends ChoreRecordsOptions {
  readonly settings: Settings;
  /** Whose chores they are. */
  readonly service: ChoreService;
  /** As `handlersFor` gives them. */
  readonly handlers: ReadonlyMap<ChoreName, ChoreHandler>;
}

/** Between two times that the rounds of this process are written. */
const SAVE_MS = 10_000;
/** The lease of chores lasts at most so long, and no longer than that of an attempt; then another process takes over. */
const MAX_LEASE_MS = 5000;
/** A chore that finds nothing to do looks again after so many times its time. */
const IDLE_TIMES = 2;
/** One of each process does in those without the lease: they look in case that the process with it is gone. */
const OTHERS_IDLE_TIMES = 8;

/** ChoreRunner is responsible for the rounds of this process's chores: when they are, that they end, and what is known of them. */
export class ChoreRunner {
  readonly #options: ChoreRunnerOptions;
  readonly #records: ChoreRecords;
  readonly #loops: ReadonlyMap<ChoreName, ChoreLoop>;
  readonly #lease: ChoreLease;
  readonly #glance: Glance;
  /** Chores whose first round here has ended: that one may find what an earlier release left. */
  readonly #hadRound = new Set<ChoreName>();
  #saving: NodeJS.Timeout | undefined;

  constructor(options: ChoreRunnerOptions) {
    this.#options = options;
    this.#records = new ChoreRecords(options);
    const own = [...options.handlers.keys()].filter((name) => definitionOf(name).runs !== 'job');
    const { settings } = options;
    this.#lease = new ChoreLease({
      ...options,
      leaseMs: Math.min(MAX_LEASE_MS, settings.worker.leaseMs),
      onTaken: () => void this.#takeOver(),
    });
    this.#glance = new Glance(options, {
      ofShards: own.flatMap((name) => definitionOf(name).watches ?? []),
      ofFleet: own.flatMap((name) => definitionOf(name).watchesFleet ?? []),
    });
    this.#loops = new Map(own.map((name) => [name, this.#loopOf(name)]));
  }

  start(): void {
    for (const [name, loop] of this.#loops) loop.start({ isWoken: definitionOf(name).runs === 'lease' });
    this.#lease.start();
    this.#saving = setInterval(() => void this.#save(), SAVE_MS);
    this.#saving.unref();
  }

  /** Has the next round of a chore within so many milliseconds. */
  wake(name: ChoreName, withinMs = 0): void {
    this.#glance.forget();
    this.#loops.get(name)?.wake(withinMs);
  }

  /** Does one round of a chore whose time others decide. Rejects with what failed. */
  async run(name: ChoreName, signal: AbortSignal): Promise<number | undefined> {
    const from = performance.now();
    try {
      const next = await this.#options.handlers.get(name)?.({ signal });
      this.#records.noteRun(name, performance.now() - from);
      return next ?? undefined;
    } catch (error) {
      this.#records.noteFailure(name, error);
      throw error;
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#saving);
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop()));
    await Promise.all([this.#save(), this.#releaseLease()]);
  }

  #loopOf(name: ChoreName): ChoreLoop {
    const { runs, everyMs, watches, watchesFleet } = definitionOf(name);
    const ms = everyMs(this.#options.settings);
    const looks = watches !== undefined || watchesFleet !== undefined;
    const round = async (signal: AbortSignal): Promise<number | undefined> => {
      if (runs === 'lease' && !this.#lease.isHeld) return undefined;
      const idleMs = ms * (this.#lease.isHeld ? IDLE_TIMES : OTHERS_IDLE_TIMES);
      if (looks && (await this.#hasNothingToDo(name, idleMs))) return idleMs;
      const next = await this.run(name, signal);
      this.#hadRound.add(name);
      return next;
    };
    return new ChoreLoop({ everyMs: ms, round: (signal) => round(signal).catch(() => undefined) });
  }

  /** What another process did up to now may be late. What it has done lately has its round when that is due: some look at every task that waits. */
  async #takeOver(): Promise<void> {
    const { redis, keys, settings, clock } = this.#options;
    const chores = await readChores({ redis, keys, settings }).catch(() => []);
    const lastRuns = new Map(chores.map(({ name, ran }) => [name, ran?.at ?? -Infinity]));
    for (const [name, loop] of this.#loops) {
      const { runs, everyMs } = definitionOf(name);
      if (runs !== 'lease') continue;
      // The clock of the other process may be ahead.
      const sinceMs = Math.max(0, clock.now() - (lastRuns.get(name) ?? -Infinity));
      loop.wake(Math.max(0, everyMs(settings) - sinceMs));
    }
  }

  /** A look that fails lets the chore find out itself that Redis is away, which may matter to it. */
  async #hasNothingToDo(name: ChoreName, idleMs: number): Promise<boolean> {
    if (!this.#hadRound.has(name)) return false;
    const from = performance.now();
    const hasAny = await this.#glance.hasAny(idleMs / 2).catch(() => true);
    if (!hasAny) this.#records.noteRun(name, performance.now() - from);
    return !hasAny;
  }

  async #releaseLease(): Promise<void> {
    await this.#lease.stop().catch((error: unknown) => this.#options.log.debug({ err: error }, 'the lease of chores runs out'));
  }

  async #save(): Promise<void> {
    await this.#records.save().catch((error: unknown) => this.#options.log.debug({ err: error }, 'the rounds of chores are written later'));
  }
}
