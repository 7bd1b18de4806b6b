import { fork, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { TicketClaim } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';
import { LATE, within } from '#shared/time/index.ts';
import { isFromIsolated, type FromIsolated, type ToIsolated } from './isolation-messages.ts';

export interface IsolatedProcessOptions {
  /** As records show what runs there. */
  worker: string;
  /** Variables that are not in this process's environment, or differ there. */
  variables: Record<string, string>;
  /** Megabytes of heap; Node's default when undefined. */
  heapMb: number | undefined;
  /** Called when a task there waits for a time. */
  onWaiting: () => void;
  /** Gets the lines of its log. */
  log: Log;
}

interface Call extends PromiseWithResolvers<TicketResult | null> {
  sentAt: number;
}

const ENTRY = fileURLToPath(new URL(`isolated-main${extname(import.meta.url)}`, import.meta.url));

/** IsolatedProcess is responsible for one child process in which suspects run, and for the tickets under way when it ends. */
export class IsolatedProcess {
  readonly worker: string;
  /** How it ended, in words; null while it is there. */
  ended: string | null = null;
  /** Whether its worker ended it. */
  isClosed = false;
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, Call>();
  readonly #exited = Promise.withResolvers<void>();
  readonly #onWaiting: () => void;
  readonly #log: Log;
  #lastCall = 0;
  #readyAt = Number.POSITIVE_INFINITY;

  constructor({ worker, variables, heapMb, onWaiting, log }: IsolatedProcessOptions) {
    this.worker = worker;
    this.#onWaiting = onWaiting;
    this.#log = log;
    const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
    this.#child = fork(ENTRY, [String(process.pid)], {
      execArgv: [...process.execArgv, ...heap],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message) => isFromIsolated(message) && this.#receive(message));
    this.#child.once('error', (error) => this.#end(`could not be started: ${error.message}`));
    this.#child.once('exit', (code, signal) => this.#end(signal === null ? `ended with code ${code}` : `was ended by ${signal}`));
    this.#send({ kind: 'open', worker, variables });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it has started. */
  get isReady(): boolean {
    return Number.isFinite(this.#readyAt);
  }

  /** When each of what runs there began, by the monotonic clock; infinite while the process still starts. */
  get startedAt(): number[] {
    return [...this.#calls.values()].map(({ sentAt }) => Math.max(sentAt, this.#readyAt));
  }

  /** Runs a ticket to its end there. Null when the process ended first. Rejects on mistakes of ours. */
  run(ticket: TicketData, how: TicketClaim, isolation: 'own' | 'shared'): Promise<TicketResult | null> {
    if (this.ended !== null) return Promise.resolve(null);
    const call: Call = { ...Promise.withResolvers<TicketResult | null>(), sentAt: performance.now() };
    this.#lastCall += 1;
    this.#calls.set(this.#lastCall, call);
    this.#send({ kind: 'run', call: this.#lastCall, ticket, how, isolation });
    return call.promise;
  }

  handOver(): void {
    this.#send({ kind: 'hand-over' });
  }

  drain(): void {
    this.#send({ kind: 'drain' });
  }

  /** Ends it once nothing runs there, and by force after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#send({ kind: 'close' });
    if ((await within(this.#exited.promise, graceMs)) !== LATE) return;
    this.isClosed = true;
    this.#child.kill('SIGKILL');
    await this.#exited.promise;
  }

  #receive(message: FromIsolated): void {
    if (message.kind === 'waiting') {
      this.#onWaiting();
      return;
    }
    if (message.kind === 'log') {
      relayLine(this.#log, message.line);
      return;
    }
    if (message.kind === 'ready') {
      this.#readyAt = performance.now();
      const { worker, pid } = this;
      this.#log.info({ event: 'isolated.ready', worker, pid }, 'a process for tasks that were lost with their worker is ready');
      return;
    }
    const call = this.#calls.get(message.call);
    this.#calls.delete(message.call);
    if (message.kind === 'ended') call?.resolve(message.result);
    else call?.reject(new Error(message.message));
  }

  #send(message: ToIsolated): void {
    // A process that has ended reports that by itself.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #end(how: string): void {
    this.ended ??= how;
    const lost = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of lost) call.resolve(null);
    this.#exited.resolve();
  }
}

const lineSchema = z.looseObject({ level: z.string(), msg: z.string().default('') });
const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;

/** Writes a line of the child's log as one of ours, which may go elsewhere than to stdout. */
function relayLine(log: Log, line: string): void {
  const { level, time: _time, service: _service, msg, ...fields } = lineSchema.parse(JSON.parse(line));
  log[LEVELS.find((each) => each === level) ?? 'info'](fields, msg);
}
