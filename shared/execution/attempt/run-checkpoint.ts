import { z } from 'zod';
import type { AttemptCheckpoint } from '../../agents/index.ts';
import type { AgentLog, Question } from '../../config/index.ts';
import { hasCode, TaskFailure } from '../../errors/index.ts';
import type { FileLinks } from '../../files/index.ts';
import { keepCheckpoint, type Ledger, readCheckpoint } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import type { AttemptJournal } from '../journal/attempt-journal.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface RunCheckpointOptions {
  ledger: Ledger;
  attempt: RunningAttempt;
  fileLinks: Pick<FileLinks, 'sign' | 'base'>;
  journal: AttemptJournal;
  log: AgentLog;
  /** How long the attempt may run. */
  timeoutMs: number;
}

/** As in `Question`; the wait itself checks the rest. */
const askSchema = z.strictObject({
  question: z.string(),
  choices: z.array(z.string()).optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
  to: z.union([z.string(), z.array(z.string())]).optional(),
  by: z.enum(['anyone', 'others']).optional(),
  timeoutMs: z.union([z.number(), z.string()]).optional(),
  default: z.unknown().optional(),
});

/** What an agent that is no function waits for without a slot. */
const suspendSchema = z.object({
  suspend: z.union([
    z.strictObject({ untilMs: z.number() }),
    z.strictObject({ ask: askSchema }),
    z.strictObject({ event: z.string().min(1), match: z.record(z.string(), z.unknown()).optional(), timeoutMs: z.number().optional() }),
  ]),
});

type Suspend = z.infer<typeof suspendSchema>['suspend'];

/** RunCheckpoint is responsible for what the agent of an attempt that is no function leaves for the next one, and for suspending its run. */
export class RunCheckpoint implements AttemptCheckpoint {
  readonly #options: RunCheckpointOptions;
  text: string | null = null;
  resumed: string | null = null;
  key = '';
  #kept: string | null = null;
  #onAsked: (entry: number) => Promise<void> = () => Promise.resolve();

  constructor(options: RunCheckpointOptions) {
    this.#options = options;
  }

  /** Reads what earlier attempts left, if there were any, and makes the key. `onAsked`: lets people know what the run asks at an entry. */
  async open(onAsked: (entry: number) => Promise<void>): Promise<void> {
    this.#onAsked = onAsked;
    const { ledger, attempt, journal } = this.#options;
    this.key = await retryWhileAway(() => this.#sign(), { signal: () => attempt.signal });
    if (!journal.mayBeContinued) return;
    const left = await retryWhileAway(() => readCheckpoint(ledger, attempt.ref), { signal: () => attempt.signal });
    this.text = left?.text ?? null;
    this.#kept = this.text;
    if (this.text === null) return;
    await journal.open();
    this.resumed = journal.skipToEnd();
  }

  /**
   * Comes first to what a program that asks for permissions was ended for: takes the answer, or suspends the run where there is none. It is asked where
   * that attempt died before it did so. `isResumed`: as in `suspendIfAsked`.
   */
  async resume({ isResumed = false }: { isResumed?: boolean }): Promise<void> {
    const ask = isResumed || this.text === null ? null : readPermission(this.text);
    if (ask === null) return;
    const { waits } = this.#options.journal;
    waits.returnTo(ask, { mayBeOver: true });
    this.resumed = JSON.stringify(await waits.ask(ask));
  }

  /** How long `askFor` waits for people, ms. */
  get askMs(): number {
    return this.#options.ledger.settings.commands.permissionWaitMs;
  }

  /** See `AttemptCheckpoint.askFor`. The checkpoint may have been kept by another process, and what it asks may have been asked and answered there. */
  readonly askFor = async (signal: AbortSignal): Promise<string | null> => {
    const left = this.askMs === 0 ? null : await this.#readOwn();
    const wait = left === null ? null : readSuspend(left);
    if (wait === null || !('ask' in wait) || signal.aborted) return null;
    const { waits } = this.#options.journal;
    waits.returnTo(questionIn(wait), { mayBeOver: true });
    return await waits.askOpenly(questionIn(wait), { ms: this.askMs, signal, onAsked: this.#onAsked });
  };

  /** What this attempt kept last; null for nothing. */
  async #readOwn(): Promise<string | null> {
    const { ledger, attempt } = this.#options;
    const left = await retryWhileAway(() => readCheckpoint(ledger, attempt.ref), { signal: () => attempt.signal });
    return left?.by === attempt.member ? left.text : null;
  }

  readonly keep = async (text: string): Promise<void> => {
    if (text === this.#kept) return;
    const { ledger, attempt, log } = this.#options;
    try {
      const { tenant, id } = attempt.ref;
      const isHeld = await retryWhileAway(() => keepCheckpoint(ledger, { tenant, id, lease: attempt.member }, text), {
        signal: () => attempt.signal,
      });
      if (!isHeld) attempt.stop({ kind: 'lease-lost' });
      this.#kept = text;
    } catch (error) {
      if (!hasCode(error, 'checkpoint.too-large')) throw error;
      log.warn({ event: 'checkpoint.left-out', bytes: Buffer.byteLength(text) }, 'a checkpoint was not kept, because it is too long');
    }
  };

  get address(): string {
    const { fileLinks, attempt } = this.#options;
    return `${fileLinks.base}/v1/tasks/${attempt.ref.id}/checkpoint`;
  }

  async #sign(): Promise<string> {
    const { fileLinks, attempt, timeoutMs } = this.#options;
    const { tenant, id } = attempt.ref;
    return await fileLinks.sign({ may: 'checkpoint', tenant, task: id, lease: attempt.member, until: Date.now() + timeoutMs + GRACE_MS });
  }

  /**
   * Suspends the run where its agent has ended with a checkpoint of its own that says so; it never settles then. `isResumed`: another process began
   * the attempt, and what that found is not known. Errors: AGENT_ERROR.
   */
  async suspendIfAsked({ isResumed = false }: { isResumed?: boolean }): Promise<void> {
    const { journal } = this.#options;
    const left = await this.#readOwn();
    if (left === null || (!isResumed && left === this.text)) return;
    const wait = readSuspend(left);
    if (wait === null) return;
    await journal.open();
    journal.skipToEnd();
    await waitAt(journal, wait, { isPermission: readPermission(left) !== null });
  }
}

function questionIn({ ask }: Extract<Suspend, { ask: unknown }>): Question {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a member that is undefined is one that is absent
  return ask as Question;
}

const permissionSchema = z.object({ permissions: z.record(z.string(), z.unknown()), suspend: z.strictObject({ ask: askSchema }) });

/** What the checkpoint of a program asks that asks for permissions; null for nothing. */
function readPermission(text: string): Question | null {
  const read = permissionSchema.safeParse(readJson(text));
  return read.success ? questionIn(read.data.suspend) : null;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const SUSPENDS =
  'The checkpoint has a "suspend" that is none of { untilMs }, { event, match, timeoutMs } and { ask: { question, choices | schema, to, by, timeoutMs, default } }';

/** `isPermission`: a program asks the same only once, which may be answered by now. */
async function waitAt({ waits }: AttemptJournal, wait: Suspend, { isPermission }: { isPermission: boolean }): Promise<void> {
  if ('untilMs' in wait) await waits.sleep(new Date(wait.untilMs), { endsAttempt: true });
  else if ('ask' in wait) {
    waits.returnTo(questionIn(wait), { mayBeOver: isPermission });
    await waits.ask(questionIn(wait), { endsAttempt: true });
  } else await waits.waitFor(wait.event, { match: wait.match ?? {}, ...(wait.timeoutMs !== undefined && { timeoutMs: wait.timeoutMs }) });
}

/** After the end of an attempt, its worker may still settle it. */
const GRACE_MS = 60_000;

/** What a checkpoint says that the run waits for; null for one that says nothing of it. Errors: AGENT_ERROR for a wait that is none. */
function readSuspend(text: string): Suspend | null {
  const value = readJson(text);
  if (typeof value !== 'object' || value === null || !('suspend' in value)) return null;
  const read = suspendSchema.safeParse(value);
  if (read.success) return read.data.suspend;
  throw new TaskFailure('AGENT_ERROR', SUSPENDS, { isFinal: true });
}
