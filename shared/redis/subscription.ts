import { randomBytes } from 'node:crypto';
import type { ConsumerSettings } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { Ticker } from '../time/index.ts';
import type { RedisClient } from './connect-redis.ts';
import type { Keys } from './keys.ts';
import { refusalOf } from './refusals.ts';

export interface SubscriptionOptions {
  /** Opens a connection for channels; called again when one receives nothing any more. */
  open: () => RedisClient;
  /** For commands. */
  redis: RedisClient;
  keys: Keys;
  channels: readonly string[];
  onMessage: (message: string) => void;
  settings: ConsumerSettings;
  /** Ends the process, which cannot go on. */
  fail: (error: Error) => void;
  log: Log;
}

/** Echoes lost in a row before the subscription is opened again. */
const LOST_ECHOES = 3;

/**
 * Subscription is responsible for a process receiving its channels: it publishes an echo to itself, and opens another connection when
 * the echo is lost. Messages of the meantime are lost, so subscribers poll as well.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #echo: string;
  #client: RedisClient | undefined;
  readonly #ticker: Ticker;
  #lost = 0;
  #reopens = 0;
  /** Whether Redis does not let it subscribe now: another connection would not help. */
  #isRefused = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#echo = options.keys.fleet.echo(randomBytes(8).toString('hex'));
    this.#ticker = new Ticker({
      everyMs: options.settings.echoMs,
      run: () => this.#check(),
      onError: (error) => options.fail(new Error('The subscription cannot be watched', { cause: error })),
    });
  }

  start(): void {
    this.#open();
    this.#ticker.start();
  }

  close(): void {
    void this.#ticker.stop();
    this.#client?.disconnect();
    this.#client = undefined;
  }

  /** Text while it receives nothing; else null. */
  get problem(): string | null {
    return this.#lost >= LOST_ECHOES || this.#reopens > 0 ? 'messages of other processes are not received' : null;
  }

  #open(): void {
    const { open, channels, onMessage, log } = this.#options;
    const client = open();
    this.#client = client;
    client.on('message', (channel: string, message: string) => {
      if (channel === this.#echo) this.#receiveEcho();
      else onMessage(message);
    });
    // The client subscribes again after a reconnect; what fails here shows by its echo.
    client.subscribe(...channels, this.#echo).catch((error: unknown) => {
      this.#isRefused ||= client === this.#client && refusalOf(error) !== null;
      log.debug({ err: error }, 'messages cannot be received now');
    });
  }

  #receiveEcho(): void {
    this.#lost = 0;
    this.#reopens = 0;
    this.#isRefused = false;
  }

  async #check(): Promise<void> {
    const { redis, settings, log, fail } = this.#options;
    if (this.#lost >= LOST_ECHOES) {
      if (this.#reopens >= settings.maxReopens && !this.#isRefused) {
        this.close();
        fail(new Error(`The subscription was opened ${settings.maxReopens} times and received nothing`));
        return;
      }
      this.#reopens += 1;
      this.#lost = 0;
      this.#isRefused = false;
      log.warn({ event: 'subscription.reopened', times: this.#reopens }, 'messages of other processes were not received; subscribed again');
      this.#client?.disconnect();
      this.#open();
    }
    try {
      await redis.publish(this.#echo, '');
      this.#lost += 1;
    } catch {
      // Redis is away, which its connection reports.
      this.#lost = 0;
    }
  }
}
