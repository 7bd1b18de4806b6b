import { createHash } from 'node:crypto';
import { MusterError } from '../../errors/index.ts';
import { openSealed, sealText } from './sealed-text.ts';

/** What a sealed text begins with, before the id of its key. */
const SEALED = 'sealed.';
/** What a text in clear begins with that would look like a sealed one. */
const CLEAR = 'clear.';
const KEY_ID_CHARACTERS = 8;

interface SealKey {
  readonly id: string;
  readonly bytes: Buffer;
}

interface SealKeys {
  /** 32 bytes: seals and opens. */
  key?: Buffer | undefined;
  /** The key before, which opens what is still sealed with it. */
  previous?: Buffer | undefined;
}

/** Seal is responsible for what is in Redis only sealed: texts that are opened by the key of the fleet, each as what it was sealed for. */
export class Seal {
  readonly #key: SealKey | undefined;
  readonly #keys: readonly SealKey[];

  /** Without a key, texts stay as they are. */
  constructor({ key, previous }: SealKeys = {}) {
    this.#key = key && sealKeyOf(key);
    this.#keys = [key, previous].flatMap((bytes) => (bytes ? [sealKeyOf(bytes)] : []));
  }

  /** Names the key that seals; null without one. */
  get keyId(): string | null {
    return this.#key?.id ?? null;
  }

  /** The text as it is to be stored. `context`: what it is, which has to be the same when it is opened. */
  seal(text: string, context: string): string {
    if (this.#key) return `${SEALED}${this.#key.id}.${sealText(text, this.#key.bytes, context)}`;
    return text.startsWith(SEALED) || text.startsWith(CLEAR) ? `${CLEAR}${text}` : text;
  }

  /** The text of what is stored. Errors: `seal.key-lost`. */
  open(stored: string, context: string): string {
    if (stored.startsWith(CLEAR)) return stored.slice(CLEAR.length);
    if (!stored.startsWith(SEALED)) return stored;
    const { id, sealed } = partsOf(stored);
    const key = this.#keys.find((each) => each.id === id);
    if (!key) throw keyLost(id);
    const text = openSealed(sealed, key.bytes, context);
    if (text === null)
      throw new MusterError('seal.key-lost', 'It was sealed as something else, or changed since', { details: { key: id } });
    return text;
  }

  /** Names the keys that open. */
  get keyIds(): string[] {
    return this.#keys.map(({ id }) => id);
  }
}

/** Names the key that opens a stored text; null for one in clear. */
export function keyIdOf(stored: string): string | null {
  return stored.startsWith(SEALED) ? partsOf(stored).id : null;
}

function partsOf(stored: string): { id: string; sealed: string } {
  const end = SEALED.length + KEY_ID_CHARACTERS;
  return { id: stored.slice(SEALED.length, end), sealed: stored.slice(end + 1) };
}

/** The same for the same key, and of no use to whoever wants to know that. */
function sealKeyOf(bytes: Buffer): SealKey {
  return { id: createHash('sha256').update('seal-key\n').update(bytes).digest('hex').slice(0, KEY_ID_CHARACTERS), bytes };
}

function keyLost(id: string): MusterError {
  const message = `It is sealed with the key ${id}, which is neither MUSTER_SEAL_KEY nor MUSTER_SEAL_KEY_PREVIOUS here`;
  return new MusterError('seal.key-lost', message, { details: { key: id } });
}
