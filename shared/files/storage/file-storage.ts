import type { Readable } from 'node:stream';

/** One stored file: its tenant and its id. */
export interface FilePlace {
  readonly tenant: string;
  readonly file: string;
}

/** A file that has arrived in full, on this machine's disk. */
export interface SpooledFile {
  readonly path: string;
  readonly bytes: number;
}

/** Where the bytes of files are. What it throws when it does not answer is `unavailable.files`. */
export interface FileStorage {
  /** Names the storage: the same for all processes that use it. */
  identify(): Promise<string>;
  /** Stores a spooled file; durable once this resolves. The spooled file may be moved away. */
  write(place: FilePlace, spooled: SpooledFile): Promise<void>;
  /** Opens a file, or resolves with null when there is none. Who opens the stream reads it to its end or destroys it. */
  read(place: FilePlace): Promise<Readable | null>;
  /** Removes a file; one that is gone already is no error. */
  remove(place: FilePlace): Promise<void>;
  /** Removes everything of a tenant. */
  removeTenant(tenant: string): Promise<void>;
}
