import type { Log } from '../../log/index.ts';
import { Ticker } from '../../time/index.ts';
import { findUnservedQueues, type UnservedPorts } from './unserved-queues.ts';
import { markDeadWorkers } from './worker-registry.ts';

/** What operators are notified of at once; a queue without a worker is a finding. */
export interface FleetNotice {
  event: 'worker.lost';
  worker: string;
}

export interface WorkerWatchOptions extends UnservedPorts {
  /** Called with each notice, once in the fleet. */
  onNotice: (notice: FleetNotice) => void;
  readonly log: Log;
}

const CHECKS_PER_BEAT = 2;

/**
 * WorkerWatch is responsible for noting workers without a heartbeat, also idle ones, and queues whose tasks no worker takes. Workers and
 * APIs run it, so that the end of a fleet's only worker is noticed too.
 */
export class WorkerWatch {
  readonly #options: WorkerWatchOptions;
  readonly #ticker: Ticker;

  constructor(options: WorkerWatchOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: options.settings.worker.heartbeatIntervalMs / CHECKS_PER_BEAT,
      run: () => this.#check(),
      onError: (error) => options.log.debug({ err: error }, 'silent workers cannot be read now'),
    });
  }

  start(): void {
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #check(): Promise<void> {
    const { onNotice, log } = this.#options;
    for (const worker of await markDeadWorkers(this.#options)) {
      log.warn({ event: 'worker.lost', worker }, 'a worker is lost: its heartbeats stopped');
      onNotice({ event: 'worker.lost', worker });
    }
    for (const { event, queue, reason } of await findUnservedQueues(this.#options)) {
      if (event === 'recovered') log.info({ event: 'queue.served', queue }, reason);
      else log.warn({ event: 'queue.unserved', queue }, reason);
    }
  }
}
