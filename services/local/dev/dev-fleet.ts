import { basename } from 'node:path';
import { LATE, within } from '#shared/time/index.ts';
import { FileWatch } from './file-watch.ts';
import type { Generation } from './generation.ts';

export interface DevFleetOptions {
  /** Starts a generation; the first one prints addresses and key. `onFile` gets each file of the author's before it is loaded. */
  fork: (options: { isFirst: boolean; onFile: (file: string) => void }) => Generation;
  /** Writes a line for the author. */
  print: (text: string) => void;
}

/** Generations that may still run tasks behind the current one. Of more the oldest is stopped, and its tasks go to the newest. */
const MAX_RETIRED = 3;
/** How long a start that is no longer wanted may take to end by itself. */
const ABANDON_MS = 5000;

/**
 * DevFleet is responsible for having the newest files run that are right: a change starts a generation beside the current one, which
 * retires once its successor takes tasks, and goes on when that cannot start.
 */
export class DevFleet {
  readonly #options: DevFleetOptions;
  readonly #watch = new FileWatch((file) => this.#onChange(file));
  /** All whose process has not ended, the oldest first. */
  readonly #alive = new Set<Generation>();
  #current: Generation | undefined;
  #starting: Generation | undefined;
  #isAnnounced = false;
  #isStopping = false;

  constructor(options: DevFleetOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#startNext();
  }

  /** Stops all generations within their grace. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#watch.close();
    for (const generation of this.#alive) generation.stop();
    await Promise.all([...this.#alive].map(({ ended }) => ended));
  }

  /** Ends all generations at once. */
  kill(): void {
    for (const generation of this.#alive) generation.kill();
  }

  #onChange(file: string): void {
    if (this.#isStopping) return;
    this.#options.print(`${basename(file)} changed: loading it`);
    if (this.#starting) void abandon(this.#starting);
    void this.#startNext();
  }

  async #startNext(): Promise<void> {
    const next = this.#options.fork({ isFirst: !this.#isAnnounced, onFile: (file) => this.#watch.add(file) });
    this.#starting = next;
    this.#alive.add(next);
    void this.#noticeEnd(next);
    const result = await next.started;
    // A later change has started another one.
    if (this.#starting !== next || this.#isStopping) return;
    this.#starting = undefined;
    this.#watch.seesNewFiles = result.kind === 'failed';
    if (result.kind === 'failed') this.#reportFailure(result.message);
    else this.#replaceBy(next);
  }

  #reportFailure(message: string): void {
    const what = this.#current ? 'The fleet goes on as it was before this change' : 'Nothing runs yet';
    this.#options.print(`\n${message}\n\n${what}. Save the file again once it is right.\n`);
  }

  #replaceBy(next: Generation): void {
    const before = this.#current;
    this.#current = next;
    if (this.#isAnnounced) this.#options.print('Reloaded: new tasks run with it; what ran before goes on to its end');
    this.#isAnnounced = true;
    before?.retire();
    const retired = [...this.#alive].filter((generation) => generation !== next);
    for (const generation of retired.slice(0, -MAX_RETIRED)) generation.stop();
  }

  async #noticeEnd(generation: Generation): Promise<void> {
    const how = await generation.ended;
    this.#alive.delete(generation);
    if (this.#current !== generation || this.#isStopping) return;
    this.#current = undefined;
    this.#options.print(`\nThe fleet stopped: ${how}. It starts again when a file is saved.\n`);
    this.#watch.seesNewFiles = true;
  }
}

async function abandon(generation: Generation): Promise<void> {
  generation.stop();
  if ((await within(generation.ended, ABANDON_MS)) === LATE) generation.kill();
}
