import type { Settings } from '#shared/config/index.ts';
import type { TicketClaim } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';
import { wait } from '#shared/time/index.ts';
import type { IsolatedProcess } from './isolated-process.ts';

/** A process that ended while something ran there. */
export interface LostProcess {
  worker: string;
  message: string;
  /** Whether it ended by what ran in it. */
  isOwnEnd: boolean;
}

export interface IsolationPoolOptions {
  settings: Settings;
  /** Starts another process; `number` distinguishes it from those before it. */
  open: (number: number) => IsolatedProcess;
  /** Expires the attempt that an ended process had of a ticket; `message` says how it ended. Returns whether there was one. */
  expire: (ticket: TicketData, lost: LostProcess) => Promise<boolean>;
  log: Log;
}

interface Host {
  process: IsolatedProcess;
  isolation: 'own' | 'shared';
  idle: NodeJS.Timeout | undefined;
}

const CLOSE_MS = 5000;
/** After a process that ended before it ran its ticket. */
const RESTART_MS = 1000;

/**
 * IsolationPool is responsible for running tasks under which a process was lost in child processes, so that the next loss takes nothing
 * else down, and shows which task caused it. After the first loss a few share one; after the second each has its own.
 */
export class IsolationPool {
  readonly #options: IsolationPoolOptions;
  readonly #hosts = new Set<Host>();
  readonly #closing = new Set<Promise<void>>();
  /** Whether suspects may come from elsewhere, so that one process is kept ready for them. */
  #isExpecting = false;
  #isDraining = false;
  #opened = 0;
  #running = 0;
  #empty: PromiseWithResolvers<void> | undefined;

  constructor(options: IsolationPoolOptions) {
    this.#options = options;
  }

  /** Whether another suspect would find a process. A suspect that waited for one to start would hold its place under the caps meanwhile. */
  get hasRoom(): boolean {
    const spares = [...this.#hosts].filter((host) => this.#hasRoom(host, 'shared'));
    if (spares.some(({ process }) => process.isReady)) return true;
    const isSpareStarting = spares.some(({ process }) => process.startedAt.length === 0);
    return !isSpareStarting && (spares.length > 0 || this.#mayOpen());
  }

  get running(): number {
    return this.#running;
  }

  /** Runs the ticket of a task under which so many processes were lost. */
  async run(ticket: TicketData, how: TicketClaim, losses: number): Promise<TicketResult> {
    const isolation = losses > 1 ? 'own' : 'shared';
    const host = this.#find(isolation) ?? this.#open(isolation);
    host.isolation = isolation;
    clearTimeout(host.idle);
    this.#running += 1;
    try {
      const running = host.process.run(ticket, how, isolation);
      // Others may follow. Those that need one each open them side by side instead of waiting for this one.
      if (isolation === 'shared') this.#keepReady();
      const result = await running;
      if (result !== null) return result;
      const { worker, pid, ended, isClosed } = host.process;
      const message = `Its process ${ended ?? 'ended'}`;
      this.#hosts.delete(host);
      this.#options.log.warn({ event: 'isolated.lost', worker, pid, task: ticket.task }, message);
      if (await this.#options.expire(ticket, { worker, message, isOwnEnd: !isClosed })) return { kind: 'done', note: message };
      // It was not claimed there, and needs its ticket. The wait keeps a process that cannot start from being started in a loop.
      await wait(RESTART_MS);
      return { kind: 'returned' };
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#empty?.resolve();
      this.#keepIdle(host);
    }
  }

  /** Keeps a process ready for suspects from elsewhere, or keeps none any more. On a busy machine a start takes longer than a lease. */
  expect(isExpecting: boolean): void {
    this.#isExpecting = isExpecting && !this.#isDraining && this.#options.settings.worker.isolatedIdleMs > 0;
    this.#keepReady();
  }

  /** Has runs with steps end before their next one. */
  handOver(): void {
    for (const { process } of this.#hosts) process.handOver();
  }

  /** Hands back what runs. */
  drain(): void {
    this.#isDraining = true;
    this.#isExpecting = false;
    for (const { process } of this.#hosts) process.drain();
  }

  /** Resolves when nothing runs. */
  async empty(): Promise<void> {
    while (this.#running > 0) await (this.#empty = Promise.withResolvers()).promise;
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    this.#isExpecting = false;
    for (const host of this.#hosts) this.#close(host);
    await Promise.all(this.#closing);
  }

  #find(isolation: Host['isolation']): Host | undefined {
    const found = [...this.#hosts].filter((host) => this.#hasRoom(host, isolation));
    return found.find(({ process }) => process.isReady) ?? found[0];
  }

  #hasSpare(): boolean {
    return [...this.#hosts].some((host) => this.#hasRoom(host, 'shared'));
  }

  #hasRoom({ process, isolation }: Host, wanted: Host['isolation']): boolean {
    if (process.ended !== null) return false;
    const count = process.startedAt.length;
    return count === 0 || (wanted === 'shared' && isolation === 'shared' && count < this.#options.settings.worker.suspectsPerProcess);
  }

  /** Counts processes that still start or have a task on probation; the worker's slots bound the others. */
  #mayOpen(): boolean {
    const { isolatedProcesses, probationMs } = this.#options.settings.worker;
    const provenBefore = performance.now() - probationMs;
    const onProbation = [...this.#hosts].filter(({ process }) => process.startedAt.some((at) => at > provenBefore));
    return onProbation.length < isolatedProcesses;
  }

  #open(isolation: Host['isolation']): Host {
    this.#opened += 1;
    const host: Host = { process: this.#options.open(this.#opened), isolation, idle: undefined };
    this.#hosts.add(host);
    return host;
  }

  #keepReady(): void {
    if (this.#isExpecting && !this.#hasSpare() && this.#mayOpen()) this.#keepIdle(this.#open('shared'));
  }

  #keepIdle(host: Host): void {
    if (host.process.ended !== null) this.#hosts.delete(host);
    if (!this.#hosts.has(host) || host.process.startedAt.length > 0) return;
    clearTimeout(host.idle);
    host.idle = setTimeout(() => this.#endIdle(host), this.#options.settings.worker.isolatedIdleMs);
    host.idle.unref();
  }

  #endIdle(host: Host): void {
    const isOnlySpare = ![...this.#hosts].some((other) => other !== host && this.#hasRoom(other, 'shared'));
    if (this.#isExpecting && isOnlySpare) this.#keepIdle(host);
    else this.#close(host);
  }

  #close(host: Host): void {
    clearTimeout(host.idle);
    this.#hosts.delete(host);
    const closing = host.process.close(CLOSE_MS).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
