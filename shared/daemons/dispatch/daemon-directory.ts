import type { Log } from '../../log/index.ts';
import { redisNow, type Subscription } from '../../redis/index.ts';
import { Ticker } from '../../time/index.ts';
import { parseDaemonSignal } from '../daemon-signals.ts';
import { readDaemonStates } from '../daemon-states.ts';
import { type DaemonState, statusOf } from '../daemon-state.ts';
import type { DaemonPorts } from '../scripts.ts';
import type { Subscribe } from './hub-link.ts';

export interface DaemonDirectoryOptions extends DaemonPorts {
  subscribe: Subscribe;
  /** Between two readings of all daemons, for lost messages, ms. */
  refreshMs: number;
  log: Log;
}

/** In the place of a tenant: workers with capabilities run the tasks of all. */
export const ANY_TENANT = '*';

/** A daemon as some hub reported it last. */
export interface KnownDaemon {
  readonly id: string;
  readonly state: DaemonState;
}

/**
 * DaemonDirectory is responsible for knowing the daemons of all hubs without asking Redis for each task: it receives what hubs publish, and
 * reads all of them now and again.
 */
export class DaemonDirectory {
  readonly #options: DaemonDirectoryOptions;
  readonly #tenants = new Map<string, Map<string, DaemonState>>();
  readonly #ticker: Ticker;
  #subscription: Subscription | undefined;
  /** Redis's clock less this process's, ms. */
  #skewMs = 0;

  constructor(options: DaemonDirectoryOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: options.refreshMs,
      run: () => this.#refresh(),
      onError: (error) => options.log.debug({ err: error }, 'the daemons of other hubs could not be read'),
    });
  }

  start(): void {
    const { keys, subscribe } = this.#options;
    this.#subscription = subscribe('daemons', [keys.fleet.daemonSignal], (message) => this.#receive(message));
    this.#subscription.start();
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
    this.#subscription?.close();
  }

  /** The connected daemons of a tenant. */
  of(tenant: string): KnownDaemon[] {
    const now = Date.now() + this.#skewMs;
    return [...(this.#tenants.get(tenant) ?? []), ...(this.#tenants.get(ANY_TENANT) ?? [])]
      .filter(([, state]) => statusOf(state, now) !== 'offline')
      .map(([id, state]) => ({ id, state }));
  }

  /** Counts a task that is on its way to a daemon, until its hub reports again. */
  noteTask(tenant: string, id: string): void {
    this.#change(tenant, id, (state) => ({ ...state, running: state.running + 1 }));
  }

  /** Its hub says that it has no room: until that hub reports again. */
  noteFull(tenant: string, id: string): void {
    this.#change(tenant, id, (state) => ({ ...state, running: Math.max(state.running, state.slots) }));
  }

  #change(tenant: string, id: string, change: (state: DaemonState) => DaemonState): void {
    for (const owner of [tenant, ANY_TENANT]) {
      const state = this.#tenants.get(owner)?.get(id);
      if (state) this.#set(owner, id, change(state));
    }
  }

  #receive(message: string): void {
    const signal = parseDaemonSignal(message);
    if (signal?.kind === 'states') for (const { tenant, id, state } of signal.states) this.#set(tenant, id, state);
    if (signal?.kind === 'gone') this.#remove(signal);
  }

  #remove({ tenant, id, connection }: { tenant: string; id: string; connection: string }): void {
    const daemons = this.#tenants.get(tenant);
    if (daemons?.get(id)?.connection === connection) daemons.delete(id);
    if (daemons?.size === 0) this.#tenants.delete(tenant);
  }

  #set(tenant: string, id: string, state: DaemonState): void {
    const daemons = this.#tenants.get(tenant) ?? new Map<string, DaemonState>();
    this.#tenants.set(tenant, daemons.set(id, state));
  }

  async #refresh(): Promise<void> {
    const [live, now] = await Promise.all([readDaemonStates(this.#options), redisNow(this.#options.redis)]);
    this.#skewMs = now - Date.now();
    const workers = [...(this.#tenants.get(ANY_TENANT) ?? [])];
    this.#tenants.clear();
    // Workers only publish; they are not kept anywhere.
    for (const [id, state] of workers) if (statusOf(state, now) !== 'offline') this.#set(ANY_TENANT, id, state);
    for (const { tenant, id, state } of live) this.#set(tenant, id, state);
  }
}
