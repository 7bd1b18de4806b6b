import type { HubSettings } from '#shared/config/index.ts';
import type { DaemonState, LocalDaemon } from '#shared/daemons/index.ts';
import type { TicketClaim } from '#shared/ledger/index.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';
import type { DaemonConnection } from '../connections/daemon-connection.ts';
import { DaemonAttempts, type DaemonAttemptsOptions, type HubExecutor } from './daemon-attempts.ts';
import type { NamedAttempts } from './reattachment.ts';

export interface HubDaemonOptions extends Pick<DaemonAttemptsOptions, 'onAdopted'> {
  tenant: string;
  id: string;
  executor: HubExecutor;
  settings: HubSettings;
  /** It may have a slot free that it did not have, or be idle. */
  onChange: (daemon: HubDaemon) => void;
  /** One of its slots was taken. */
  onTaken: (daemon: HubDaemon) => void;
}

/** Tasks that the state of a daemon names. */
const MAX_LISTED = 100;

/** HubDaemon is responsible for one daemon at this hub: its connection, its slots, and its attempts, which outlive the connection. */
export class HubDaemon implements LocalDaemon {
  readonly tenant: string;
  readonly id: string;
  readonly attempts: DaemonAttempts;
  readonly #options: HubDaemonOptions;
  #connection: DaemonConnection | null = null;
  #running = 0;
  /** As it was made last, for as long as nothing in it changes: each new task compares the states of all daemons. */
  #known: { state: DaemonState; of: readonly unknown[] } | undefined;

  constructor(options: HubDaemonOptions) {
    const { tenant, id, executor, settings, onAdopted } = options;
    this.tenant = tenant;
    this.id = id;
    this.#options = options;
    this.attempts = new DaemonAttempts({
      tenant,
      daemon: id,
      executor,
      settings,
      send: (message) => this.#connection?.send(message),
      isConnected: () => this.#connection !== null,
      inSlot: (work) => this.#inSlot(work),
      onAdopted,
      onAnswered: () => options.onChange(this),
    });
  }

  get connection(): DaemonConnection | null {
    return this.#connection;
  }

  /** Whether it is neither connected nor runs anything for this hub. */
  get isIdle(): boolean {
    return this.#connection === null && this.#running === 0;
  }

  /** Throws without a connection: only a connected daemon is chosen from. */
  get state(): DaemonState {
    if (!this.#connection) throw new Error(`The daemon ${this.id} is not connected here`);
    const { cpuIntensive, unanswered, changes } = this.attempts;
    const running = this.#running + unanswered;
    const of = [this.#connection, this.#connection.changes, changes, running];
    if (this.#known?.of.every((each, at) => each === of[at]) !== true) {
      this.#known = { state: this.#connection.stateWith({ running, cpuIntensive, tasks: this.attempts.tasks.slice(0, MAX_LISTED) }), of };
    }
    return this.#known.state;
  }

  async run(ticket: TicketData, how: TicketClaim): Promise<TicketResult> {
    return await this.#inSlot(() => this.attempts.run(ticket, how));
  }

  /** From now on this connection is the daemon's. Returns the one before. */
  connect(connection: DaemonConnection): DaemonConnection | null {
    const before = this.#connection;
    this.#connection = connection;
    this.attempts.forgetStops();
    return before;
  }

  /** The connection ended. Does nothing when another connection has taken its place. */
  disconnect(connection: DaemonConnection): boolean {
    if (this.#connection !== connection) return false;
    this.#connection = null;
    this.attempts.lose();
    return true;
  }

  /** What it reports for the first time may make it fit for tasks that are held. */
  noteFirstBeat(): void {
    this.#options.onChange(this);
  }

  /** The daemon has its welcome. */
  resume(named: NamedAttempts): void {
    this.attempts.resumeAll(named);
    this.#options.onChange(this);
  }

  async #inSlot(work: () => Promise<TicketResult>): Promise<TicketResult> {
    this.#running += 1;
    this.#options.onTaken(this);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#options.onChange(this);
    }
  }
}
