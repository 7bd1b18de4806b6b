import { setTimeout as delay } from 'node:timers/promises';
import { Attempts } from './attempts/attempts.ts';
import type { DaemonEvent } from './daemon-event.ts';
import { DEFAULTS, describeDaemon, type DaemonOptions } from './daemon-options.ts';
import { keepOnDisk, KEEP_IN_MEMORY } from './finished-results.ts';
import { HubConnection } from './hub-connection.ts';
import { CLOSE_CODES, type HubMessage } from '../protocol.ts';
import { HubRefusal, refusalOfClose } from './hub-refusal.ts';
import { hubAddress } from './hub-address.ts';
import { KeptWorkspaces } from './kept-workspaces.ts';
import { measureMachine } from './measure-machine.ts';
import { Outbox } from './outbox.ts';

/**
 * Daemon is responsible for running the tasks that a hub sends to this machine, across lost connections. A running handler goes on while
 * the hub is away, and its result follows.
 */
export class Daemon {
  readonly #options: DaemonOptions;
  readonly #attempts: Attempts;
  readonly #outbox: Outbox;
  readonly #workspaces: KeptWorkspaces | undefined;
  readonly #url: string;
  readonly #ending = new AbortController();
  #connection: HubConnection | null = null;
  #isDraining = false;
  #hasConnected = false;
  #changed = Promise.withResolvers<void>();

  /** Throws a TypeError when `hub` is no address. */
  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#url = hubAddress(options.hub);
    this.#attempts = new Attempts({
      handler: options.handler,
      results: options.dataDir === undefined ? KEEP_IN_MEMORY : keepOnDisk(options.dataDir),
      maxOutput: options.maxOutput ?? DEFAULTS.maxOutput,
      maxMessageBytes: options.maxMessageBytes ?? DEFAULTS.maxMessageBytes,
      onEvent: (event) => this.#publish(event),
      onChange: () => this.#onChange(),
    });
    this.#outbox = new Outbox(() => this.#attempts.reports());
    this.#workspaces =
      options.workspaces && new KeptWorkspaces({ shelf: options.workspaces, onProblem: (error) => this.#onProblem(error) });
  }

  get isConnected(): boolean {
    return this.#connection !== null;
  }

  /** Attempts whose handler runs. */
  get running(): number {
    return this.#attempts.running;
  }

  /** Results that the hub has not acknowledged. */
  get unacknowledged(): number {
    return this.#attempts.unacknowledged;
  }

  /**
   * Connects, and connects again, until `drain` or `stop` has ended it. Rejects with a `HubRefusal` when another try is of no use: the
   * token is not valid, another process uses it, or there is no hub at this address.
   */
  async run(): Promise<void> {
    await this.#attempts.load();
    let tries = 0;
    while (!this.#ending.signal.aborted) {
      const refusal = await this.#connectOnce(() => (tries = 0)).catch((error: unknown) => error);
      if (this.#ending.signal.aborted) break;
      if (!(refusal instanceof HubRefusal)) throw refusal;
      if (this.#isFinal(refusal)) {
        this.#attempts.stopAll({ kind: 'dropped' });
        await this.#untilAttempts(({ running }) => running === 0);
        throw refusal;
      }
      const retryMs = Math.max(this.#pauseMs(tries), refusal.retryAfterMs ?? 0);
      this.#publish({ type: 'disconnected', message: refusal.message, retryMs });
      await delay(retryMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      tries += 1;
    }
  }

  /** Takes no more tasks. Resolves once those that run have ended, and the hub has their results or was given some seconds for it. */
  async drain(): Promise<void> {
    if (!this.#isDraining) {
      this.#isDraining = true;
      this.#publish({ type: 'draining', running: this.running });
      this.#sendHeartbeat();
    }
    await this.#untilAttempts(({ running }) => running === 0);
    const timeUp = AbortSignal.timeout(this.#options.acknowledgeMs ?? DEFAULTS.acknowledgeMs);
    const late = AbortSignal.any([this.#ending.signal, timeUp]);
    await this.#untilAttempts(({ unacknowledged }) => unacknowledged === 0 || this.#connection === null, late);
    await this.#end();
  }

  /** Stops all that run, reports so where the hub is there, and ends. Resolves once the handlers have settled. */
  async stop(): Promise<void> {
    this.#attempts.stopAll({ kind: 'stopped' });
    await this.drain();
  }

  /** Serves one connection to its end. Rejects with the `HubRefusal` that ended it. */
  async #connectOnce(onConnected: () => void): Promise<never> {
    const connection = await HubConnection.open(
      {
        url: this.#url,
        token: this.#options.token,
        hello: { ...describeDaemon(this.#options), ...this.#attempts.names() },
        timeoutMs: this.#options.connectMs ?? DEFAULTS.connectMs,
      },
      this.#ending.signal,
    );
    const { welcome } = connection;
    await this.#attempts.welcome(welcome);
    this.#connection = connection;
    this.#hasConnected = true;
    onConnected();
    const { daemonId, keep, drop } = welcome;
    this.#publish({ type: 'connected', daemonId, hub: this.#url, kept: keep.length, dropped: drop.length });
    connection.listen((message) => void this.#receive(message, connection));
    connection.keepAlive(() => this.#beat());
    this.#outbox.attach(connection);
    this.#workspaces?.attach((message) => connection.send(message));
    const { code, reason } = await connection.ended;
    this.#outbox.detach();
    this.#workspaces?.detach();
    this.#connection = null;
    this.#onChange();
    const retryAfterMs = code === CLOSE_CODES.tooLarge ? await this.#shrinkLargest(connection) : undefined;
    throw refusalOfClose(code) ?? new HubRefusal('unreachable', describeEnd(code, reason), { retryAfterMs });
  }

  async #receive(message: HubMessage, connection: HubConnection): Promise<void> {
    if (message.type === 'workspaces.remove') await this.#workspaces?.receive(message);
    else if (message.type !== 'hub.welcome') await this.#attempts.handle(message, (answer) => connection.send(answer));
  }

  #onProblem(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#publish({ type: 'problem', message: `A working folder could not be removed: ${reason}` });
  }

  /** After a message that was too large for the hub. Returns how long to wait when it would be sent again as it is. */
  async #shrinkLargest({ largest }: HubConnection): Promise<number | undefined> {
    if (largest !== undefined && (await this.#attempts.shrink(largest))) return undefined;
    return (this.#options.reconnect ?? DEFAULTS.reconnect).maxMs;
  }

  #beat(): void {
    this.#attempts.beat();
    this.#sendHeartbeat();
    this.#outbox.flush();
  }

  #sendHeartbeat(): void {
    const { load, memoryMb } = (this.#options.measure ?? measureMachine)();
    this.#connection?.send({ type: 'daemon.heartbeat', load, memoryMb, isDraining: this.#isDraining });
  }

  /** Before it was ever connected, a wrong address is a person's slip; later it is the hub's deploy. */
  #isFinal({ reason }: HubRefusal): boolean {
    return reason === 'token' || reason === 'taken-over' || (reason === 'not-a-hub' && !this.#hasConnected);
  }

  #pauseMs(tries: number): number {
    const { minMs, maxMs } = this.#options.reconnect ?? DEFAULTS.reconnect;
    const pauseMs = Math.min(maxMs, minMs * 2 ** tries);
    return Math.round(pauseMs * (0.5 + Math.random() / 2));
  }

  #publish(event: DaemonEvent): void {
    this.#options.onEvent?.(event);
  }

  #onChange(): void {
    this.#outbox.flush();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Resolves once that holds of the attempts, or when `late` aborts. */
  async #untilAttempts(isDone: (attempts: Attempts) => boolean, late?: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<boolean>();
    const abort = (): void => aborted.resolve(true);
    if (late?.aborted === true) abort();
    late?.addEventListener('abort', abort, { once: true });
    while (!isDone(this.#attempts)) {
      if (await Promise.race([this.#changed.promise.then(() => false), aborted.promise])) break;
    }
    late?.removeEventListener('abort', abort);
  }

  async #end(): Promise<void> {
    const connection = this.#connection;
    this.#ending.abort();
    if (connection === null) return;
    connection.close();
    await Promise.race([connection.ended, delay(1000, undefined, { ref: false })]);
    connection.cut();
  }
}

function describeEnd(code: number, reason: string): string {
  if (code === 1012) return 'The hub restarts';
  if (code === 1006) return 'The connection to the hub was cut';
  return `The hub closed the connection (${code}${reason === '' ? '' : `: ${reason}`})`;
}
