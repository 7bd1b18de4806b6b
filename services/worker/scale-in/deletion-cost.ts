import type { Log } from '#shared/log/index.ts';
import type { WriteCost } from './kubernetes-pod.ts';

export interface DeletionCostOptions {
  /** Writes the cost where Kubernetes reads it. */
  write: WriteCost;
  /** Attempts that run here, and how long the longest of them has, ms. */
  busy: () => { running: number; longestMs: number };
  log: Log;
  /** Between two looks, and so between two requests at least. Defaults to 10 s. */
  everyMs?: number;
}

/** Kubernetes advises against changes that come often. */
const EVERY_MS = 10_000;
const MINUTE_MS = 60_000;
/** An attempt counts more than the minutes that another one has run. */
const PER_ATTEMPT = 1000;
const MAX_MINUTES = PER_ATTEMPT - 1;
/** It is a number of 32 bits. */
const MAX_COST = 2_147_483_647;

/** What it costs to end a pod: nothing where nothing runs, more with each attempt, and more the longer one has run. */
export function deletionCost({ running, longestMs }: { running: number; longestMs: number }): number {
  if (running === 0) return 0;
  return Math.min(MAX_COST, running * PER_ATTEMPT + Math.min(MAX_MINUTES, Math.floor(longestMs / MINUTE_MS)));
}

/**
 * DeletionCost is responsible for telling Kubernetes which pods are idle, so that a scale-in ends those first. It writes when the number of running
 * attempts has changed, and never again once that was refused: without the permission all else works.
 */
export class DeletionCost {
  readonly #options: DeletionCostOptions;
  #timer: NodeJS.Timeout | undefined;
  /** For how many attempts it was written last; undefined before. */
  #written: number | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: DeletionCostOptions) {
    this.#options = options;
  }

  start(): void {
    const { everyMs = EVERY_MS } = this.#options;
    this.#timer = setInterval(() => {
      this.#writing ??= this.#look().finally(() => (this.#writing = undefined));
    }, everyMs);
    this.#timer.unref();
  }

  /** Resolves once nothing is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  async #look(): Promise<void> {
    const { write, busy, log } = this.#options;
    const found = busy();
    try {
      if (found.running === this.#written) return;
      const answer = await write(deletionCost(found));
      if (answer.kind === 'written') this.#written = found.running;
      if (answer.kind !== 'refused') return;
      clearInterval(this.#timer);
      const { status, message } = answer;
      log.warn(
        { event: 'scale-in.refused', status, reason: message },
        'Kubernetes does not take the deletion cost of this pod; a scale-in may end busy pods first',
      );
    } catch (error) {
      log.debug({ err: error }, 'the deletion cost of this pod is written later');
    }
  }
}
