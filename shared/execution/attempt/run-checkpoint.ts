import { z } from 'zod';
import type { AttemptCheckpoint } from '../../agents/index.ts';
import type { AgentLog } from '../../config/index.ts';
import { hasCode, TaskFailure } from '../../errors/index.ts';
import type { FileLinks } from '../../files/index.ts';
import { keepCheckpoint, type Ledger, readCheckpoint } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import type { AttemptJournal } from '../journal/attempt-journal.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface RunCheckpointOptions {
  ledger: Ledger;
  attempt: RunningAttempt;
  fileLinks: Pick<FileLinks, 'sign'>;
  journal: AttemptJournal;
  log: AgentLog;
  /** How long the attempt may run. */
  timeoutMs: number;
}

/** What an agent that is no function waits for without a slot. */
const suspendSchema = z.object({
  suspend: z.union([
    z.strictObject({ untilMs: z.number() }),
    z.strictObject({ event: z.string().min(1), match: z.record(z.string(), z.unknown()).optional(), timeoutMs: z.number().optional() }),
  ]),
});

/** RunCheckpoint is responsible for what the agent of an attempt that is no function leaves for the next one, and for suspending its run. */
export class RunCheckpoint implements AttemptCheckpoint {
  readonly #options: RunCheckpointOptions;
  text: string | null = null;
  resumed: string | null = null;
  #kept: string | null = null;

  constructor(options: RunCheckpointOptions) {
    this.#options = options;
  }

  /** Reads what earlier attempts left, if there were any. */
  async open(): Promise<void> {
    const { ledger, attempt, journal } = this.#options;
    if (!journal.mayBeContinued) return;
    this.text = await retryWhileAway(() => readCheckpoint(ledger, attempt.ref), { signal: () => attempt.signal });
    this.#kept = this.text;
    if (this.text === null) return;
    await journal.open();
    this.resumed = journal.skipToEnd();
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
      if (!hasCode(error, 'request.too-large')) throw error;
      log.warn({ event: 'checkpoint.left-out', bytes: Buffer.byteLength(text) }, 'a checkpoint was not kept, because it is too long');
    }
  };

  readonly key = async (): Promise<string> => {
    const { fileLinks, attempt, timeoutMs } = this.#options;
    const { tenant, id } = attempt.ref;
    return await fileLinks.sign({ may: 'checkpoint', tenant, task: id, lease: attempt.member, until: Date.now() + timeoutMs + GRACE_MS });
  };

  /** Suspends the run where its agent has ended with a checkpoint of its own that says so; it never settles then. Errors: AGENT_ERROR. */
  async suspendIfAsked(): Promise<void> {
    const { ledger, attempt, journal } = this.#options;
    const left = await retryWhileAway(() => readCheckpoint(ledger, attempt.ref), { signal: () => attempt.signal });
    if (left === null || left === this.text) return;
    const wait = readSuspend(left);
    if (wait === null) return;
    await journal.open();
    journal.skipToEnd();
    if ('untilMs' in wait) await journal.waits.sleep(new Date(wait.untilMs));
    else
      await journal.waits.waitFor(wait.event, {
        match: wait.match ?? {},
        ...(wait.timeoutMs !== undefined && { timeoutMs: wait.timeoutMs }),
      });
  }
}

/** After the end of an attempt, its worker may still settle it. */
const GRACE_MS = 60_000;

/** What a checkpoint says that the run waits for; null for one that says nothing of it. Errors: AGENT_ERROR for a wait that is none. */
function readSuspend(text: string): z.infer<typeof suspendSchema>['suspend'] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('suspend' in value)) return null;
  const read = suspendSchema.safeParse(value);
  if (read.success) return read.data.suspend;
  throw new TaskFailure('AGENT_ERROR', 'The checkpoint has a "suspend" that is neither { untilMs } nor { event, match, timeoutMs }', {
    isFinal: true,
  });
}
