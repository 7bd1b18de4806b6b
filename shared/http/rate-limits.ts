import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { MusterError } from '../errors/index.ts';
import type { RedisClient } from '../redis/index.ts';
import { Recent } from '../time/index.ts';
import ipaddr from 'ipaddr.js';
import { SharedCalls } from './shared-calls.ts';

export const MINUTE_S = 60;

interface RateLimitOptions {
  redis: RedisClient;
  /** Prefix of the counters' keys. */
  prefix: string;
  perMinute: number;
}

/**
 * Counts calls per minute over all processes, by whatever name; while Redis is away, per process.
 * What it returns throws `limit.rate` when the minute's calls are used up.
 */
export function createRateLimit({ redis, prefix, perMinute }: RateLimitOptions): (name: string) => Promise<void> {
  const bounds = { points: perMinute, duration: MINUTE_S };
  const limiter = new RateLimiterRedis({
    ...bounds,
    storeClient: redis,
    keyPrefix: prefix,
    rejectIfRedisNotReady: true,
    // A caller over the limit is refused here until the minute ends, without a call to Redis each time.
    inMemoryBlockOnConsumed: perMinute,
    insuranceLimiter: new RateLimiterMemory(bounds),
  });
  const counts = new SharedCalls((name, calls) => consume(limiter, { name, calls, perMinute }));
  return async (name) => {
    const { answer, place } = await counts.join(name);
    if (place < answer.granted) return;
    throw tooManyCalls(perMinute, answer.retryAfterMs);
  };
}

/** The refusal of a call beyond the limit of its minute. */
export function tooManyCalls(perMinute: number, retryAfterMs: number): MusterError {
  return new MusterError('limit.rate', `At most ${perMinute} requests a minute`, { details: { perMinute }, retryAfterMs });
}

interface Consumed {
  /** How many of the calls are within the limit; the first of them are. */
  readonly granted: number;
  /** For the others. */
  readonly retryAfterMs: number;
}

interface Consumption {
  readonly name: string;
  readonly calls: number;
  readonly perMinute: number;
}

async function consume(limiter: RateLimiterRedis, { name, calls, perMinute }: Consumption): Promise<Consumed> {
  try {
    await limiter.consume(name, calls);
    return { granted: calls, retryAfterMs: 0 };
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal;
    const { consumedPoints, msBeforeNext } = refusal;
    // A name that is blocked in this process is refused without being counted.
    const before = consumedPoints === 0 ? perMinute : consumedPoints - calls;
    return { granted: Math.max(0, perMinute - before), retryAfterMs: msBeforeNext };
  }
}

/** The limiter rejects with its count, which is no error. */
function isRefusal(value: unknown): value is RateLimiterRes {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value;
}

/** Addresses remembered as blocked, and as trusted; the oldest are forgotten first. */
const MAX_REMEMBERED = 10_000;
const TRUSTED_MS = 3_600_000;

/**
 * RefusalLimit is responsible for addresses that send what is refused: receivers without a key count nothing else, as their senders share
 * addresses. Once the minute's refusals of one receiver are used up, requests of the address to it are refused before they cost anything.
 * A provider sends for strangers too, from the same addresses: what they are refused blocks no other receiver, and not the one that takes
 * what comes from there.
 */
export class RefusalLimit {
  readonly #count: (name: string) => Promise<void>;
  readonly #perMinute: number;
  /** Network and receiver -> until when it is blocked, ms since the epoch. */
  readonly #blocked = new Recent<string, number>({ maxEntries: MAX_REMEMBERED });
  /** Network and receiver, of which something was taken. */
  readonly #trusted = new Recent<string, true>({ maxEntries: MAX_REMEMBERED, keepMs: TRUSTED_MS });

  constructor(options: RateLimitOptions) {
    this.#count = createRateLimit(options);
    this.#perMinute = options.perMinute;
  }

  isBlocked(address: string | undefined, receiver: string): boolean {
    return this.#blockedMs(address, receiver) > 0;
  }

  /** Errors: `limit.rate`. */
  assertOpen(address: string | undefined, receiver: string): void {
    const retryAfterMs = this.#blockedMs(address, receiver);
    if (retryAfterMs === 0) return;
    throw new MusterError('limit.rate', `More than ${this.#perMinute} requests of this address were refused within a minute`, {
      details: { perMinute: this.#perMinute },
      retryAfterMs,
    });
  }

  /** Counts a request that was refused for what was sent. Never rejects. */
  async count(address: string | undefined, receiver: string): Promise<void> {
    const name = nameOf(address, receiver);
    if (this.#trusted.get(name) === true) return;
    try {
      await this.#count(name);
    } catch (error) {
      if (error instanceof MusterError) this.#blocked.set(name, Date.now() + (error.retryAfterMs ?? 0));
    }
  }

  /** How long it stays blocked. */
  #blockedMs(address: string | undefined, receiver: string): number {
    const name = nameOf(address, receiver);
    const leftMs = (this.#blocked.get(name) ?? 0) - Date.now();
    if (leftMs > 0) return leftMs;
    this.#blocked.delete(name);
    return 0;
  }

  /** Notes that a request was taken, whose sender proved itself: for an hour no refusals of strangers block its address here. */
  trust(address: string | undefined, receiver: string): void {
    this.#trusted.set(nameOf(address, receiver), true);
  }
}

function nameOf(address: string | undefined, receiver: string): string {
  return `${networkOf(address)}:${receiver}`;
}

const IPV6_NETWORK_BITS = 64;

const UNKNOWN = 'unknown';
/** IPv6 with an IPv4 address and a zone in it. */
const MAX_ADDRESS_CHARACTERS = 64;
/** Addresses come again with each request of their connection, and are slow to parse. */
const networks = new Recent<string, string>({ maxEntries: 1000 });

/** Whether a request came from the server's own machine. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === 'loopback';
}

/** What is counted as one address: with IPv6 the network, because a sender has all of it. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || address.length > MAX_ADDRESS_CHARACTERS) return UNKNOWN;
  const known = networks.get(address);
  if (known !== undefined) return known;
  const network = parseNetwork(address);
  networks.set(address, network);
  return network;
}

function parseNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return UNKNOWN;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed
    .toByteArray()
    .slice(0, IPV6_NETWORK_BITS / 8)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
