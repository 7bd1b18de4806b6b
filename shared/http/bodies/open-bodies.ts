import { MusterError } from '../../errors/index.ts';

const RETRY_MS = 5000;

export interface BodyMemory {
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
