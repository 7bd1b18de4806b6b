import type { QueueName } from '../queue-names.ts';
import { listWorkers, type RegistryPorts, type WorkerRecord } from './worker-registry.ts';

/** Whether a worker takes jobs of a queue, or of any. */
export function takesFrom({ status, queues }: WorkerRecord, queue: QueueName | null): boolean {
  return status !== 'dead' && status !== 'draining' && (queue === null || queues.includes(queue));
}

/**
 * Slots of the workers that take tickets of a queue, each with its whole pool. Null while that is unknown: no worker reports that it takes
 * them, and a worker of an earlier release does not report what it serves.
 */
export function slotsFor(workers: readonly WorkerRecord[], queue: QueueName): number | null {
  const slots = workers.filter((worker) => takesFrom(worker, queue)).reduce((total, worker) => total + (worker.slots ?? 0), 0);
  return slots === 0 && workers.some(({ status }) => status === 'alive') ? null : slots;
}

/** How long one reading of the registry serves a process. */
const FRESH_MS = 1000;

/**
 * OfferedSlots is responsible for how many slots the fleet offers each queue, from one reading of the workers' records a second, so that
 * accepts and claims need no call of their own.
 */
export class OfferedSlots {
  readonly #ports: RegistryPorts;
  #workers: readonly WorkerRecord[] | null = null;
  #reading: Promise<void> | undefined;
  /** Of the worker in this process, which need not wait for its own record. */
  readonly #own = new Map<string, number>();
  /** Monotonic, ms. */
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(ports: RegistryPorts) {
    this.#ports = ports;
  }

  /** The worker of this process serves these queues, with so many slots in all. */
  addOwn({ queues, slots }: { queues: readonly string[]; slots: number | null }): void {
    if (slots === null) return;
    for (const queue of queues) this.#own.set(queue, slots);
  }

  /** As last read; null before the first reading. It starts the next reading and does not wait for it. */
  of(queue: QueueName): number | null {
    void this.#refresh().catch(() => undefined);
    const own = this.#own.get(queue);
    const known = this.#workers === null ? null : slotsFor(this.#workers, queue);
    return own === undefined ? known : Math.max(known ?? 0, own);
  }

  /** At most a second old. Rejects while Redis is away. */
  async read(queue: QueueName): Promise<number | null> {
    await this.#refresh();
    return slotsFor(this.#workers ?? [], queue);
  }

  async #refresh(): Promise<void> {
    if (performance.now() - this.#readAt < FRESH_MS) return;
    this.#reading ??= this.#readWorkers().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #readWorkers(): Promise<void> {
    this.#workers = await listWorkers(this.#ports);
    this.#readAt = performance.now();
  }
}
