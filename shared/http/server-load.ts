import { MusterError } from '../errors/index.ts';

const RETRY_MS = 5000;

interface StreamOptions {
  /** Between two comments on a quiet stream. Defaults to 15 s: proxies give up after 30 or more. */
  keepAliveMs?: number;
  /** What comes within this time has a status of its own, where an answer is awaited. */
  headersMs?: number;
  /** How long a reader may leave what was written unread. Defaults to 30 s. */
  slowReaderMs?: number;
  /** Between two checks whether a reader may still read. Defaults to 5 s. */
  checkMs?: number;
  /** Streams of one tenant, of one key, and of one visitor's token. Without bounds by default. */
  perTenant?: number;
  perKey?: number;
  perVisitor?: number;
}

/** Whose stream it is. */
export interface StreamOwner {
  readonly tenant: string;
  /** The key's id. */
  readonly key: string;
  readonly isVisitor: boolean;
}

/** A share of the streams, and how many are taken of it. */
interface Share {
  readonly name: string;
  readonly of: string;
  readonly max: number;
}

/** OpenStreams is responsible for how many event streams one server has open, in all and for each owner, and for ending them when it closes. */
export class OpenStreams {
  readonly keepAliveMs: number;
  readonly headersMs: number;
  readonly slowReaderMs: number;
  readonly checkMs: number;
  readonly #max: number;
  readonly #options: StreamOptions;
  readonly #closing = new AbortController();
  readonly #byShare = new Map<string, number>();
  #count = 0;

  constructor(max: number, options: StreamOptions = {}) {
    this.#max = max;
    this.#options = options;
    this.keepAliveMs = options.keepAliveMs ?? 15_000;
    this.headersMs = options.headersMs ?? 25_000;
    this.slowReaderMs = options.slowReaderMs ?? 30_000;
    this.checkMs = options.checkMs ?? 5000;
  }

  /** Aborts when the server closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get count(): number {
    return this.#count;
  }

  /** Takes a place for a stream; release it with what is returned. Errors: `limit.streams`, `unavailable.shutting-down`. */
  enter(owner: StreamOwner | null = null): () => void {
    if (this.#closing.signal.aborted)
      throw new MusterError('unavailable.shutting-down', 'This process is shutting down', { retryAfterMs: RETRY_MS });
    const shares = owner === null ? [] : this.#sharesOf(owner);
    const full = shares.find(({ name, max }) => this.#taken(name) >= max);
    if (full) throw tooMany(`${full.of} has ${full.max} event streams of this process already`, full.max);
    if (this.#count >= this.#max) throw tooMany(`All ${this.#max} event streams of this process are in use`, this.#max);
    this.#change(shares, 1);
    let isIn = true;
    return () => {
      if (isIn) this.#change(shares, -1);
      isIn = false;
    };
  }

  /** Ends all streams and takes no more. */
  close(): void {
    this.#closing.abort();
  }

  #sharesOf({ tenant, key, isVisitor }: StreamOwner): Share[] {
    const { perTenant = Infinity, perKey = Infinity, perVisitor = Infinity } = this.#options;
    return [
      isVisitor ? { name: `key ${key}`, of: "This visitor's token", max: perVisitor } : { name: `key ${key}`, of: 'This key', max: perKey },
      { name: `tenant ${tenant}`, of: `Tenant ${tenant}`, max: perTenant },
    ];
  }

  #taken(name: string): number {
    return this.#byShare.get(name) ?? 0;
  }

  #change(shares: readonly Share[], by: number): void {
    this.#count += by;
    for (const { name } of shares) {
      const count = this.#taken(name) + by;
      if (count === 0) this.#byShare.delete(name);
      else this.#byShare.set(name, count);
    }
  }
}

function tooMany(message: string, maxStreams: number): MusterError {
  return new MusterError('limit.streams', message, { details: { maxStreams }, retryAfterMs: RETRY_MS });
}

interface BodyMemory {
  /** Bytes of the bodies that one process holds. */
  readonly maxBytes: number;
  readonly maxBytesPerAddress: number;
  /** How long the next bytes of a body may take. */
  readonly idleMs: number;
}

/** The bytes of one body that are in memory. */
export interface OpenBody {
  /** Counts bytes before they are kept. Errors: `limit.bodies`. */
  add(bytes: number): void;
  /** The body is not needed any more. */
  release(): void;
}

/** OpenBodies is responsible for how much of request bodies one server holds in memory, in all and for each address. */
export class OpenBodies {
  readonly idleMs: number;
  readonly #bounds: BodyMemory;
  readonly #byAddress = new Map<string, number>();
  #bytes = 0;

  constructor(bounds: BodyMemory) {
    this.#bounds = bounds;
    this.idleMs = bounds.idleMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  open(address: string): OpenBody {
    let held = 0;
    const change = (by: number): void => {
      held += by;
      this.#bytes += by;
      const ofAddress = (this.#byAddress.get(address) ?? 0) + by;
      if (ofAddress === 0) this.#byAddress.delete(address);
      else this.#byAddress.set(address, ofAddress);
    };
    return {
      add: (bytes) => {
        this.#assertRoom(address, bytes);
        change(bytes);
      },
      release: () => change(-held),
    };
  }

  #assertRoom(address: string, bytes: number): void {
    const { maxBytes, maxBytesPerAddress } = this.#bounds;
    if ((this.#byAddress.get(address) ?? 0) + bytes > maxBytesPerAddress)
      throw tooMuch(`The requests of this address hold ${maxBytesPerAddress} bytes of bodies already`, { maxBytesPerAddress });
    if (this.#bytes + bytes > maxBytes) throw tooMuch(`This process holds ${maxBytes} bytes of bodies already`, { maxBytes });
  }
}

function tooMuch(message: string, details: Record<string, number>): MusterError {
  return new MusterError('limit.bodies', message, { details, retryAfterMs: RETRY_MS });
}
