import { EventEmitter } from 'node:events';
import type { Keys, Subscription } from '../redis/index.ts';
import { sessionTopic } from '../sessions/index.ts';

export interface EventFeedOptions {
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

  #receive(message: string): void {
    const [tenant = '', tasks = '', event = ''] = message.split('/');
    for (const task of tasks.split(',')) this.#emitter.emit(`task ${tenant}/${task}`, { tenant, task, event } satisfies EventHint);
    this.#emitter.emit(`tenant ${tenant}`, { tenant, event } satisfies Omit<EventHint, 'task'>);
  }
}
