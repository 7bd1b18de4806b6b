import { once } from 'node:events';
import { wait } from '#shared/time/index.ts';

/** The part of discord.js that is used of its connection. */
interface GatewayClient {
  readonly options: { ws?: { buildIdentifyThrottler?: (manager: never) => IdentifyThrottler | PromiseLike<IdentifyThrottler> } };
  on(event: 'shardDisconnect', listener: (end: { code: number }) => void): unknown;
  destroy(): Promise<void>;
}

interface IdentifyThrottler {
  /** Resolves when the library may identify; rejects when `signal` aborts, with which the library closed the connection. */
  waitForIdentify(shardId: number, signal: AbortSignal): Promise<void>;
}

/**
 * What Discord refuses when it closes with a code after which it takes no connection as it is, and how to repair it:
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
 */
export const FINAL_CLOSES = {
  4004: 'DISCORD_BOT_TOKEN (4004): reset the token in the Developer Portal',
  4010: 'the shard that Muster connects as (4010): update Muster',
  4011: 'one connection for that many servers (4011): take the bot out of some, 2500 is the most for one',
  4012: 'the version of the Gateway that Muster speaks (4012): update Muster',
  4013: 'the intents that Muster names (4013): update Muster',
  4014: 'the Message Content intent (4014): switch it on in the Developer Portal, Bot, Privileged Gateway Intents',
} as const;
type FinalClose = keyof typeof FINAL_CLOSES;

/** Discord's own limit: https://docs.discord.com/developers/events/gateway#rate-limiting */
const IDENTIFY_EVERY_MS = 5000;
/** How often a connection that the day has no room for asks again. */
const NO_ROOM_MS = 30_000;

/**
 * DiscordGateway is responsible for not connecting to Discord in vain: the library connects again by itself, each time it identifies counts,
 * and after some ends none of it can help.
 */
export class DiscordGateway {
  #client: GatewayClient | null = null;
  #countIdentify: () => Promise<boolean> = () => Promise.resolve(true);
  #identifiedAt = -IDENTIFY_EVERY_MS;
  #final: FinalClose | null = null;
  #end: () => void = () => undefined;

  /** Why Discord ended the connection for good; null when it did not. */
  get refusal(): string | null {
    return this.#final === null ? null : `Discord refuses ${FINAL_CLOSES[this.#final]}; then restart the chat processes`;
  }

  /** Called when the API says of the bot what the Gateway closed with. From then on the API knows first that it is repaired. */
  deferToApi(): void {
    if (this.#final === 4004 || this.#final === 4014) this.#final = null;
  }

  /** Takes over a client before it connects. */
  attach(client: GatewayClient): void {
    this.#client = client;
    const throttler: IdentifyThrottler = { waitForIdentify: (_shard, signal) => this.#waitForIdentify(signal) };
    client.options.ws = { ...client.options.ws, buildIdentifyThrottler: () => throttler };
    client.on('shardDisconnect', ({ code }) => {
      if (isFinal(code)) this.#final = code;
      this.#end();
    });
  }

  /**
   * Runs `connect` until `stopping` aborts or the connection ends for good. `countIdentify`: counts one more, and returns whether the day had
   * room for it.
   */
  async listen(
    connect: (signal: AbortSignal) => Promise<unknown>,
    stopping: AbortSignal,
    countIdentify: () => Promise<boolean>,
  ): Promise<void> {
    const ended = new AbortController();
    this.#countIdentify = countIdentify;
    this.#end = () => ended.abort();
    const signal = AbortSignal.any([stopping, ended.signal]);
    if (signal.aborted) return;
    await Promise.race([connect(signal), once(signal, 'abort')]);
    // The adapter ends only a client that was ready.
    await this.#client?.destroy();
    this.#client = null;
  }

  /** Rejects only for an aborted signal: after any other failure the library identifies all the same. */
  async #waitForIdentify(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.#countIdentify().catch(() => false))) await wait(NO_ROOM_MS, signal);
    await wait(Math.max(0, this.#identifiedAt + IDENTIFY_EVERY_MS - performance.now()), signal);
    signal.throwIfAborted();
    this.#identifiedAt = performance.now();
  }
}

function isFinal(code: number): code is FinalClose {
  return Object.hasOwn(FINAL_CLOSES, code);
}
