import { wait } from '../time/index.ts';
import { EventEmitter } from 'node:events';
import type { Keys, Subscription } from '../redis/index.ts';
import { sessionTopic } from '../sessions/index.ts';

/** Readers that sleep until there may be something new. Hints may be lost, so none of them waits for hints alone. */

/** A reader of one task. */
interface TaskWatch {
  /**
   * Resolves at once when there was a hint since the last call, else with the next one or after `ms` milliseconds.
   * With `ignoreOutput` output does not end the wait, and is remembered for the next call.
   */
  next(ms: number, ignoreOutput?: boolean): Promise<void>;
  /** Whether its log may have grown since the last call; at first it may. */
  mayHaveLogged(): boolean;
  stop(): void;
}

/** Begins to listen for what happens to a task. `signal` ends all waiting. */
export function watchTask(events: Pick<EventFeed, 'onTask'>, tenant: string, id: string, signal: AbortSignal): TaskWatch {
  const hinted = { moved: false, wrote: false, logged: true };
  let isOutputAwaited = true;
  const nap = new Nap(signal);
  const unhint = events.onTask(tenant, id, ({ event }) => {
    const isOutput = event === 'output' || event === 'log';
    hinted[isOutput ? 'wrote' : 'moved'] = true;
    if (event === 'log') hinted.logged = true;
    if (!isOutput || isOutputAwaited) nap.wake();
  });
  return {
    next: async (ms, ignoreOutput = false) => {
      if (signal.aborted) return;
      isOutputAwaited = !ignoreOutput;
      // A hint that did not come in all that time may have been lost.
      if (!hinted.moved && (ignoreOutput || !hinted.wrote) && (await nap.sleep(ms))) hinted.logged = true;
      hinted.moved = false;
      if (!ignoreOutput) hinted.wrote = false;
    },
    mayHaveLogged: () => {
      const { logged } = hinted;
      hinted.logged = false;
      return logged;
    },
    stop: () => {
      unhint();
      nap.stop();
    },
  };
}

/** A reader of all events of a tenant. */
interface TenantWatch {
  /** Resolves at once when there was a hint since the last call, else with the next one or after `ms` milliseconds. */
  next(ms: number): Promise<void>;
  stop(): void;
}

/** Events that come within this time after a read are read together. */
const GATHER_MS = 50;

/** Begins to listen for the events of a tenant that `isWanted` names. `signal` ends all waiting. */
export function watchTenant(
  events: Pick<EventFeed, 'onTenant'>,
  tenant: string,
  isWanted: (event: string) => boolean,
  signal: AbortSignal,
): TenantWatch {
  let isHinted = false;
  let readAt = -Infinity;
  const nap = new Nap(signal);
  const unhint = events.onTenant(tenant, ({ event }) => {
    if (isHinted || !isWanted(event)) return;
    isHinted = true;
    nap.wake();
  });
  return {
    next: async (ms) => {
      if (!isHinted) await nap.sleep(ms);
      const gatherMs = readAt + GATHER_MS - performance.now();
      if (isHinted && gatherMs > 0) await wait(gatherMs);
      isHinted = false;
      readAt = performance.now();
    },
    stop: () => {
      unhint();
      nap.stop();
    },
  };
}

/** Nap is responsible for one sleep at a time that a hint or the end of its reader ends. */
class Nap {
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.wake();
  #wake = new AbortController();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    // Once for the whole watch: a process's signal would collect a listener for each sleep.
    signal.addEventListener('abort', this.#onAbort);
  }

  /** Wakes once: each abort makes an error with its stack, and a thousand hints may come before the reader sleeps again. */
  wake(): void {
    if (!this.#wake.signal.aborted) this.#wake.abort();
  }

  /** Returns whether it slept for all of `ms`. */
  async sleep(ms: number): Promise<boolean> {
    if (this.#signal.aborted) return false;
    this.#wake = new AbortController();
    return await wait(ms, this.#wake.signal);
  }

  stop(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

interface EventFeedOptions {
  /** Makes the process's subscription to these channels; made for the first listener. */
  subscribe: (channels: readonly string[], onMessage: (message: string) => void) => Subscription;
  keys: Keys;
}

/** A hint that a task's event stream or output has something new. Hints may be lost: look again from time to time. */
export interface EventHint {
  tenant: string;
  /** Its id, or what stands for a session. */
  task: string;
  /** `task.completed` and its like, `output`, or `session.changed`. */
  event: string;
}

/**
 * EventFeed is responsible for one subscription per process, so that any number of readers learn at once that a task
 * moved or wrote. It carries hints only; the record and the streams are read for what happened.
 */
export class EventFeed {
  readonly #options: EventFeedOptions;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  #subscription: Subscription | undefined;

  constructor(options: EventFeedOptions) {
    this.#options = options;
  }

  /** Calls back on each hint about one task. Returns how to stop. */
  onTask(tenant: string, task: string, listener: (hint: EventHint) => void): () => void {
    return this.#on(`task ${tenant}/${task}`, listener);
  }

  /** Calls back on each hint that something is new in a session: a message came, a choice was made. Returns how to stop. */
  onSession(tenant: string, session: string, listener: (hint: EventHint) => void): () => void {
    return this.#on(`task ${tenant}/${sessionTopic(session)}`, listener);
  }

  /** Calls back once for all tasks of a tenant to which the same happened together. Returns how to stop. */
  onTenant(tenant: string, listener: (hint: Omit<EventHint, 'task'>) => void): () => void {
    return this.#on(`tenant ${tenant}`, listener);
  }

  close(): void {
    this.#emitter.removeAllListeners();
    this.#subscription?.close();
    this.#subscription = undefined;
  }

  get problem(): string | null {
    return this.#subscription?.problem ?? null;
  }

  #on(topic: string, listener: (hint: EventHint) => void): () => void {
    this.#subscribe();
    this.#emitter.on(topic, listener);
    return () => this.#emitter.off(topic, listener);
  }

  #subscribe(): void {
    if (this.#subscription) return;
    const { keys, subscribe } = this.#options;
    const channels = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).signal);
    this.#subscription = subscribe(channels, (message) => this.#receive(message));
    this.#subscription.start();
  }

  /** Tenants whose tasks moved in one step share a message, with a line of each. */
  #receive(message: string): void {
    for (const line of message.split('\n')) this.#emit(line);
  }

  #emit(line: string): void {
    const [tenant = '', tasks = '', event = ''] = line.split('/');
    for (const task of tasks.split(',')) this.#emitter.emit(`task ${tenant}/${task}`, { tenant, task, event } satisfies EventHint);
    this.#emitter.emit(`tenant ${tenant}`, { tenant, event } satisfies Omit<EventHint, 'task'>);
  }
}
