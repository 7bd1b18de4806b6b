import { TaskFailure } from '../../errors/index.ts';
import { assertMaySuspend, type JournalKind, type Ledger, type NumberedEntry } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { wait } from '../../time/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
import type { JournalWriter } from './journal-writer.ts';
import type { OpenSteps } from './open-steps.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import { mismatch } from './recorded-journal.ts';
import type { RunWaitSpec } from './run-waits.ts';

/** What a run's journal has to know of its agent. */
export interface AgentTraits {
  /** How long a run that waits keeps its lane. */
  holdLaneMs: number;
  version: string | undefined;
}

interface SuspensionPorts {
  attempt: RunningAttempt;
  ledger: Ledger;
  steps: OpenSteps;
  writer: JournalWriter;
  /** The entry with its place among the ends. */
  mark: (entry: NumberedEntry) => NumberedEntry;
}

interface Suspending extends Pick<AgentTraits, 'holdLaneMs'> {
  entry: NumberedEntry;
  spec: RunWaitSpec;
  /** Whether people were asked while the run went on. */
  isAsked: boolean;
  /** Calls of models in earlier attempts. */
  calls: RecordedCalls;
}

/** Calls of models that a run makes within so long go by batches together, ms. */
const TOGETHER_MS = 100;

/** RunSuspension is responsible for ending an attempt at what its run waits for: one thing, or calls of models that it makes at the same time. */
export class RunSuspension {
  readonly #ports: SuspensionPorts;
  /** What the run is being suspended for. */
  #kind: JournalKind | undefined;
  /** Calls that are made at the same time as the one that it is suspended at. */
  readonly #together: NumberedEntry[] = [];

  constructor(ports: SuspensionPorts) {
    this.#ports = ports;
  }

  /**
   * Ends the attempt as suspended, once steps under way have ended. Never resolves. Errors: AGENT_ERROR while the run waits for something else,
   * TOO_MANY_SUSPENDED, JOURNAL_MISMATCH.
   */
  async suspend(suspending: Suspending): Promise<never> {
    const { entry, spec } = suspending;
    const { steps, writer } = this.#ports;
    if (this.#kind !== undefined) return await this.#suspendToo(entry, spec);
    this.#kind = spec.kind;
    await steps.ended();
    if (entry.given !== undefined) await this.#gather(suspending);
    await writer.flushed();
    return await this.#stop(suspending);
  }

  /** Where one of the two is a call of a model, a later attempt comes to what the run is not suspended for. */
  async #suspendToo(entry: NumberedEntry, spec: RunWaitSpec): Promise<never> {
    if (this.#kind !== 'batch' && spec.kind !== 'batch') {
      const message = `A run waits for one thing at a time, and comes to "${spec.name}" while it waits`;
      throw new TaskFailure('AGENT_ERROR', message, { isFinal: true });
    }
    if (this.#kind === 'batch' && entry.given !== undefined) this.#together.push(entry);
    return await new Promise<never>(() => undefined);
  }

  /** Has calls come that are made at the same time. None is sent where an earlier attempt made another call in its place. */
  async #gather({ entry, spec, calls }: Suspending): Promise<void> {
    const { attempt, writer, mark } = this.#ports;
    await attempt.untilStopped(wait(TOGETHER_MS));
    const [known] = calls.left;
    if (known && !calls.has(entry)) {
      this.#kind = undefined;
      throw mismatch({ task: attempt.ref.id, known, now: spec });
    }
    for (const each of this.#together) if (!calls.has(each)) writer.write(mark(each));
  }

  async #stop({ entry: waiting, spec, holdLaneMs, isAsked }: Suspending): Promise<never> {
    const { attempt, ledger, mark } = this.#ports;
    attempt.throwIfStopped();
    await retryWhileAway(() => assertMaySuspend(ledger, attempt.ref.tenant), { signal: () => attempt.signal });
    const entry = mark(waiting);
    const suspended = { hold: spec.hold(entry), entry, until: entry.until ?? null, holdLaneMs, ...(isAsked && { isAsked }) };
    attempt.stop({ kind: 'suspended', reason: spec.reason(entry), wait: suspended });
    return await new Promise<never>(() => undefined);
  }
}
