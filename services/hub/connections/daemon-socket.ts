import type { RawData, WebSocket } from 'ws';
import type { HubSettings } from '#shared/config/index.ts';
import { CLOSE_CODES, type DaemonMessage, type HubMessageToSend, parseDaemonMessage, salvageEnd } from '#shared/daemons/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Clock } from '#shared/time/index.ts';

export interface DaemonSocketOptions {
  settings: HubSettings;
  onMessage: (message: DaemonMessage) => void;
  /** Called once, however the connection ended. */
  onClose: () => void;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

/** How long the other side may take to answer a close. */
const CLOSE_MS = 1000;

/**
 * DaemonSocket is responsible for the bounds of one connection: the rate at which it is read, the bytes that wait for it, and its
 * end. What it hands on are messages that the schema knows.
 */
export class DaemonSocket {
  readonly #socket: WebSocket;
  readonly #options: DaemonSocketOptions;
  /** Messages that may be read now. */
  #credit: number;
  #creditAt: number;
  #resumeTimer: NodeJS.Timeout | undefined;
  #closeTimer: NodeJS.Timeout | undefined;
  #isOpen = true;
  /** When it last sent anything, monotonic, ms. */
  heardAt: number;

  constructor(socket: WebSocket, options: DaemonSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.heardAt = options.clock.monotonic();
    this.#creditAt = this.heardAt;
    this.#credit = options.settings.messagesPerSecond;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('error', (error) => options.log.debug({ err: error }, 'a connection of a daemon failed'));
    socket.on('close', () => this.#ended());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a message, unless the connection has ended. Cuts a connection that does not read. */
  send(message: HubMessageToSend): void {
    if (this.#mayWrite()) this.#socket.send(JSON.stringify(message));
  }

  /** Shows at each beat whether the other side is there, and cuts it when it does not read, also while nothing else is sent. */
  ping(): void {
    if (this.#mayWrite()) this.#socket.ping();
  }

  /** Ends the connection with a code of the contract. The daemon is not heard any more. */
  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#socket.close(code, reason);
    this.#closeTimer = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    this.#ended();
  }

  /** Whether the connection is open. Cuts one for which too much waits; what the system's buffers took counts as read. */
  #mayWrite(): boolean {
    const { settings, log } = this.#options;
    const { bufferedAmount } = this.#socket;
    if (!this.#isOpen || bufferedAmount <= settings.maxBufferedBytes) return this.#isOpen;
    log.warn({ event: 'daemon.too-slow', bufferedBytes: bufferedAmount }, 'a daemon does not read; its connection is cut');
    this.#socket.terminate();
    this.#ended();
    return false;
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (!this.#isOpen) return;
    this.heardAt = this.#options.clock.monotonic();
    this.#spend();
    if (isBinary) {
      this.send({ type: 'error', code: 'message.not-json', message: 'A message is a text frame' });
      return;
    }
    const text = textOf(data);
    const parsed = parseDaemonMessage(text);
    if (parsed.ok) {
      this.#options.onMessage(parsed.message);
      return;
    }
    this.send({ type: 'error', code: parsed.code, message: parsed.message });
    // Nothing else comes of the attempt, which would keep its task until the timeout.
    const end = salvageEnd(text, parsed.message);
    if (end !== null) this.#options.onMessage(end);
  }

  /** Counts a message; over the rate, the connection is read again when there is credit. */
  #spend(): void {
    this.#earn();
    this.#credit -= 1;
    if (this.#credit >= 0 || this.#resumeTimer !== undefined) return;
    this.#socket.pause();
    this.#resumeWithCredit();
  }

  #earn(): void {
    const { settings, clock } = this.#options;
    const now = clock.monotonic();
    const earned = ((now - this.#creditAt) * settings.messagesPerSecond) / 1000;
    this.#creditAt = now;
    this.#credit = Math.min(settings.messagesPerSecond, this.#credit + earned);
  }

  /** What had arrived when the connection was paused is taken all the same, so that it may owe more by then. */
  #resumeWithCredit(): void {
    const waitMs = Math.max(1, (-this.#credit * 1000) / this.#options.settings.messagesPerSecond);
    this.#resumeTimer = setTimeout(() => {
      this.#resumeTimer = undefined;
      this.#earn();
      if (this.#credit < 0) this.#resumeWithCredit();
      else this.#socket.resume();
    }, waitMs);
  }

  /** A paused socket would not see the other side's close. */
  #ended(): void {
    if (this.#resumeTimer !== undefined) this.#socket.resume();
    clearTimeout(this.#resumeTimer);
    if (this.#socket.readyState === this.#socket.CLOSED) clearTimeout(this.#closeTimer);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.onClose();
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}

/** Of a connection that a person ended, or that nobody answers on. */
export const REASONS = {
  [CLOSE_CODES.tokenGone]: 'the token is not valid any more',
  [CLOSE_CODES.noHeartbeat]: 'no heartbeat came',
  [CLOSE_CODES.takenOver]: 'the daemon has a newer connection',
  [CLOSE_CODES.restart]: 'the hub restarts; connect again',
} as const;
