import {
  ANY_TENANT,
  type DaemonState,
  type LocalDaemon,
  type LocalDaemons,
  publishDaemonGone,
  publishDaemonStates,
} from '#shared/daemons/index.ts';
import type { Ledger, TicketClaim } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';
import { Ticker } from '#shared/time/index.ts';

export interface CapableWorkerOptions {
  worker: string;
  host: string;
  capabilities: readonly string[];
  /** Tasks of the queue `remote` that it runs at once. */
  slots: number;
  ledger: Ledger;
  isDraining: () => boolean;
  /** Claims the ticket's task and runs it to its end. */
  execute: (ticket: TicketData, how: TicketClaim) => Promise<TicketResult>;
  log: Log;
}

/** Between two reports of what it has free, and how long one counts, ms. */
const REPORT_MS = 5000;
const VALID_MS = 15_000;
/** Changes within this time are reported together, ms. */
const CHANGE_MS = 50;

/**
 * CapableWorker is responsible for this worker's place among the daemons: hubs and other workers choose it for tasks that need what it has,
 * of every tenant. It is kept nowhere; what it reports counts for a while.
 */
export class CapableWorker implements LocalDaemon, LocalDaemons {
  readonly tenant = ANY_TENANT;
  readonly id: string;
  readonly #options: CapableWorkerOptions;
  readonly #startedAt = Date.now();
  readonly #ticker: Ticker;
  readonly #listeners: ((daemon: LocalDaemon) => void)[] = [];
  #running = 0;
  #change: NodeJS.Timeout | undefined;

  constructor(options: CapableWorkerOptions) {
    this.#options = options;
    this.id = options.worker;
    this.#ticker = new Ticker({
      everyMs: REPORT_MS,
      run: () => this.#report(),
      onError: (error) => options.log.debug({ err: error }, 'the capabilities of this worker could not be reported'),
    });
  }

  get state(): DaemonState {
    const { worker, host, capabilities, slots, isDraining } = this.#options;
    return {
      connection: worker,
      hub: worker,
      isDraining: isDraining(),
      user: null,
      name: worker,
      isWorker: true,
      capabilities: [...capabilities],
      slots,
      agents: null,
      running: this.#running,
      cpuIntensive: 0,
      load: this.#running / slots,
      memoryMb: null,
      hasBeat: true,
      version: null,
      host,
      connectedAt: this.#startedAt,
      beatAt: Date.now(),
      validMs: VALID_MS,
    };
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  /** Reports that it takes nothing more. */
  async stop(): Promise<void> {
    clearTimeout(this.#change);
    await this.#ticker.stop();
    await publishDaemonGone(this.#options.ledger, { tenant: ANY_TENANT, id: this.id, connection: this.id }).catch(() => undefined);
  }

  find(_tenant: string, id: string): LocalDaemon | undefined {
    return id === this.id ? this : undefined;
  }

  all(): Iterable<LocalDaemon> {
    return [this];
  }

  onRoom(listener: (daemon: LocalDaemon) => void): void {
    this.#listeners.push(listener);
  }

  async run(ticket: TicketData, how: TicketClaim): Promise<TicketResult> {
    this.#running += 1;
    this.#reportSoon();
    try {
      return await this.#options.execute(ticket, how);
    } finally {
      this.#running -= 1;
      this.#reportSoon();
      for (const listener of this.#listeners) listener(this);
    }
  }

  #reportSoon(): void {
    this.#change ??= setTimeout(() => {
      this.#change = undefined;
      this.#ticker.tick();
    }, CHANGE_MS);
  }

  async #report(): Promise<void> {
    await publishDaemonStates(this.#options.ledger, [{ tenant: ANY_TENANT, id: this.id, state: this.state }]);
  }
}
