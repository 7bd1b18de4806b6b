import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AgentLog } from '../../../config/index.ts';
import type { AttemptCheckpoint } from '../../agent-kind.ts';
import type { AttemptFolder, OutputListing } from '../folder/attempt-folder.ts';

/** In `out`, where the program may write and this process may read with the program's rights. It becomes no file of the task. */
export const CHECKPOINT_FILE = '.muster-checkpoint';

/** Between two looks at the file while the program runs, ms. */
const LOOK_MS = 1000;

/** CheckpointFile is responsible for keeping what a program writes into the file of its checkpoint, while it runs and at its end. */
export class CheckpointFile {
  readonly #checkpoint: AttemptCheckpoint | undefined;
  readonly #folder: AttemptFolder;
  readonly #log: AgentLog;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #failure: Error | null = null;

  /** `checkpoint`: absent for a program that has none. */
  constructor(checkpoint: AttemptCheckpoint | undefined, folder: AttemptFolder, log: AgentLog) {
    this.#checkpoint = checkpoint;
    this.#folder = folder;
    this.#log = log;
  }

  /** Writes what earlier attempts left, before the program may enter the folder. */
  async bringIn(): Promise<void> {
    const left = this.#checkpoint?.text ?? null;
    if (left !== null) await writeFile(join(this.#folder.out, CHECKPOINT_FILE), left, { flag: 'wx', mode: 0o600 });
  }

  /** Looks again and again until `close`. */
  watch(): void {
    if (!this.#checkpoint) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        if (this.#timer !== undefined) this.watch();
      });
    }, LOOK_MS);
  }

  /** Keeps what is there at the end, when nothing runs any more that could change it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking;
    if (this.#checkpoint) await this.#look();
  }

  /** Throws why the last one could not be kept. */
  assertKept(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  async #look(): Promise<void> {
    const left = await this.#read();
    if (left === null) return;
    try {
      await this.#checkpoint?.keep(left);
      this.#failure = null;
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      this.#log.debug({ err: error }, 'the checkpoint of a program could not be kept now');
    }
  }

  async #read(): Promise<string | null> {
    try {
      const file = (await this.#folder.listOutput()).files.find(({ name }) => name === CHECKPOINT_FILE);
      return file ? await text(file.read()) : null;
    } catch (error) {
      this.#log.debug({ err: error }, 'the checkpoint of a program could not be read now');
      return null;
    }
  }
}

/** What a program left besides its checkpoint. */
export function withoutCheckpoint({ files, leftOut }: OutputListing): OutputListing {
  return { files: files.filter(({ name }) => name !== CHECKPOINT_FILE), leftOut };
}
