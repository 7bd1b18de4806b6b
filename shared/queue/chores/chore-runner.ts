import type { Settings } from '../../config/index.ts';
import { ChoreLoop } from './chore-loop.ts';
import { ChoreRecords, type ChoreRecordsOptions } from './chore-records.ts';
import { type ChoreHandler, type ChoreName, definitionOf } from './chores.ts';

interface ChoreRunnerOptions extends ChoreRecordsOptions {
  readonly settings: Settings;
  /** As `handlersFor` gives them. */
  readonly handlers: ReadonlyMap<ChoreName, ChoreHandler>;
}

/** Between two times that the rounds of this process are written. */
const SAVE_MS = 10_000;
/** The lock of a chore lasts for so many of its rounds, and 100 ms at least; then another process takes over. */
const LOCK_ROUNDS = 4;
const MIN_LOCK_MS = 100;

/** ChoreRunner is responsible for the rounds of this process's chores: when they are, that they end, and what is known of them. */
export class ChoreRunner {
  readonly #options: ChoreRunnerOptions;
  readonly #records: ChoreRecords;
  readonly #loops: ReadonlyMap<ChoreName, ChoreLoop>;
  #saving: NodeJS.Timeout | undefined;

  constructor(options: ChoreRunnerOptions) {
    this.#options = options;
    this.#records = new ChoreRecords(options);
    const own = [...options.handlers.keys()].filter((name) => definitionOf(name).runs !== 'job');
    this.#loops = new Map(own.map((name) => [name, this.#loopOf(name)]));
  }

  start(): void {
    for (const loop of this.#loops.values()) loop.start();
    this.#saving = setInterval(() => void this.#save(), SAVE_MS);
    this.#saving.unref();
  }

  /** Has the next round of a chore within so many milliseconds. */
  wake(name: ChoreName, withinMs = 0): void {
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
    await Promise.all([this.#save(), this.#releaseLocks()]);
  }

  #loopOf(name: ChoreName): ChoreLoop {
    const { runs, everyMs } = definitionOf(name);
    const ms = everyMs(this.#options.settings);
    const run = (signal: AbortSignal): Promise<number | undefined> =>
      runs === 'lock' ? this.#runLocked(name, ms, signal) : this.run(name, signal);
    return new ChoreLoop({ everyMs: ms, round: (signal) => run(signal).catch(() => undefined) });
  }

  /** While another process has the lock, this one looks less often, and still before that lock would run out. */
  async #runLocked(name: ChoreName, everyMs: number, signal: AbortSignal): Promise<number | undefined> {
    const { redis, keys, process } = this.#options;
    const key = keys.fleet.choreLock(name);
    const lockMs = Math.max(MIN_LOCK_MS, Math.ceil(LOCK_ROUNDS * everyMs));
    const isTaken = (await redis.set(key, process, 'PX', lockMs, 'NX')) !== 'OK';
    if (isTaken && (await redis.get(key)) !== process) return lockMs - everyMs;
    if (isTaken) await redis.pexpire(key, lockMs);
    return await this.run(name, signal);
  }

  /** Another process takes over at once, and not when the lock has run out. */
  async #releaseLocks(): Promise<void> {
    const { redis, keys, process, log } = this.#options;
    for (const name of this.#loops.keys()) {
      if (definitionOf(name).runs !== 'lock') continue;
      const key = keys.fleet.choreLock(name);
      const release = async (): Promise<unknown> => (await redis.get(key)) === process && (await redis.del(key));
      await release().catch((error: unknown) => log.debug({ err: error }, 'the lock of a chore runs out'));
    }
  }

  async #save(): Promise<void> {
    await this.#records.save().catch((error: unknown) => this.#options.log.debug({ err: error }, 'the rounds of chores are written later'));
  }
}
