import pRetry from 'p-retry';
import { type ErrorCode, hasCode, TaskFailure } from '../../errors/index.ts';
import { type FileAttempt, type FileStore, readAll } from '../../files/index.ts';
import type { JournalEntry, Ledger, NumberedEntry } from '../../ledger/index.ts';
import { failureOfFiles } from '../attempt/file-failure.ts';
import type { AttemptOutput } from '../attempt/attempt-output.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';

/** What the journal of an attempt is opened with. */
export interface AttemptJournalOptions {
  ledger: Ledger;
  files: FileStore;
  attempt: RunningAttempt;
  output: AttemptOutput;
  /** The attempt's number. */
  number: number;
  agent: string;
  /** Whether it has the journal of another task from its start on. */
  isContinued: boolean;
  /** Whether a process was lost under the task: what a step begins is written before it begins. */
  isSuspect: boolean;
  /** The number of the entry that an attempt before asked people at while it ran, where that was not answered. */
  asking?: number | undefined;
}

type JournalValuesOptions = Pick<AttemptJournalOptions, 'files' | 'attempt' | 'number'> & { ledger: Pick<Ledger, 'settings' | 'seal'> };

/** What the storage of files may recover from while a step waits for it: half a minute in all. */
const PASSING: readonly ErrorCode[] = ['unavailable.files', 'limit.bodies'];
const RETRIES = { retries: 5, minTimeout: 1000, factor: 2 };
/** A sealed text is a third longer. */
const SEALED_GROWTH = 2;

/** JournalValues is responsible for where the journal has what steps gave: in their entries, or in files of the task where that is large. */
export class JournalValues {
  readonly #options: JournalValuesOptions;

  constructor(options: JournalValuesOptions) {
    this.#options = options;
  }

  /** What an entry has of the JSON that its step gave. Errors: STEP_TOO_LARGE, FILES_UNAVAILABLE. */
  async keep(step: Pick<NumberedEntry, 'seq' | 'name'>, json: string | undefined): Promise<Pick<JournalEntry, 'value' | 'large'>> {
    if (json === undefined) return {};
    const { maxEntryBytes } = this.#options.ledger.settings.journal;
    if (Buffer.byteLength(json) <= maxEntryBytes) return { value: json };
    return { large: await this.#store(step, json) };
  }

  /** JSON of what the step of an entry gave; undefined for nothing. Errors: FILES_UNAVAILABLE, RESOURCE_NOT_FOUND, `seal.key-lost`. */
  async read({ seq, name, value, large }: NumberedEntry): Promise<string | undefined> {
    if (!large) return value;
    const { attempt } = this.#options;
    try {
      const json = await this.#whilePassing(() => readLargeValue(this.#options, attempt.ref.tenant, { seq, large }));
      if (json !== null) return json;
    } catch (error) {
      attempt.throwIfStopped();
      throw hasCode(error, 'seal.key-lost') ? error : failureOfFiles(error);
    }
    throw new TaskFailure('RESOURCE_NOT_FOUND', `The file with what step ${seq} "${name}" gave is not kept any more`);
  }

  async #store({ seq, name }: Pick<NumberedEntry, 'seq' | 'name'>, json: string): Promise<NonNullable<JournalEntry['large']>> {
    const { files, attempt, number, ledger } = this.#options;
    const { tenant, id } = attempt.ref;
    const by: FileAttempt = { tenant, task: id, attempt: number, lease: attempt.member };
    const bytes = Buffer.byteLength(json);
    const stored = Buffer.from(ledger.seal.seal(json, contextOf(tenant, id, seq)));
    const described = { name: `step-${seq}.json`, mediaType: 'application/json' };
    try {
      const { file } = await this.#whilePassing(() => files.add(by, `journal/${seq}`, described, once(stored)));
      return { file, bytes, of: id };
    } catch (error) {
      if (hasCode(error, 'file.attempt-over')) attempt.stop({ kind: 'lease-lost' });
      attempt.throwIfStopped();
      const failure = failureOfFiles(error);
      if (failure.code !== 'OUTPUT_TOO_LARGE') throw failure;
      throw new TaskFailure('STEP_TOO_LARGE', `The step "${name}" gave ${bytes} bytes of JSON: ${failure.message}`);
    }
  }

  async #whilePassing<T>(call: () => Promise<T>): Promise<T> {
    const { signal } = this.#options.attempt;
    return await pRetry(call, { ...RETRIES, signal, shouldRetry: ({ error }) => PASSING.some((code) => hasCode(error, code)) });
  }
}

/** JSON of what a step gave, from its file; null for one that is not kept any more. Errors: `unavailable.files`, `seal.key-lost`. */
export async function readLargeValue(
  { files, ledger }: { files: Pick<FileStore, 'open'>; ledger: Pick<Ledger, 'seal'> },
  tenant: string,
  { seq, large }: Pick<NumberedEntry, 'seq' | 'large'>,
): Promise<string | null> {
  const stream = large && (await files.open({ tenant, file: large.file }));
  if (!stream) return null;
  const stored = await readAll(stream, SEALED_GROWTH * large.bytes);
  return ledger.seal.open(stored.toString(), contextOf(tenant, large.of, seq));
}

function contextOf(tenant: string, task: string, seq: number): string {
  return `journal-value/${tenant}/${task}/${seq}`;
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
