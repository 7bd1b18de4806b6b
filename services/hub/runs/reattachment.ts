import { type AttemptName, attemptKey, type DaemonMessage } from '#shared/daemons/index.ts';
import { type ExecuteTicketParts, resumeAttempt } from '#shared/execution/index.ts';
import { type AdoptAnswer, adoptAttempt, type AttemptRef, leaseMember, readState } from '#shared/ledger/index.ts';
import type { TicketResult } from '#shared/queue/index.ts';
import type { ReceivedResults } from './received-results.ts';
import type { RemoteAttempt } from './remote-attempt.ts';

/** The attempts that a daemon names when it connects. */
export type NamedAttempts = Pick<DaemonMessage<'daemon.hello'>, 'running' | 'finished'>;

/** The decision about the attempts that a daemon named. */
export interface Reattached {
  keep: string[];
  drop: string[];
  resume: { taskId: string; token: number; seq: number }[];
}

export interface ReattachmentOptions {
  tenant: string;
  /** The id of the daemon. */
  daemon: string;
  executor: ExecuteTicketParts;
  /** The daemon's attempts at this hub, by key. */
  attempts: ReadonlyMap<string, RemoteAttempt>;
  results: ReceivedResults;
  /** Runs an attempt in one of the daemon's slots. */
  inSlot: (work: () => Promise<TicketResult>) => Promise<TicketResult>;
  /** An attempt of another hub goes on here: no other keeps a slot for it. */
  onAdopted: (attempt: { tenant: string; id: string }) => void;
}

/** Reattachment is responsible for the attempts that a daemon names when it connects: it keeps those of this hub, and adopts those of others. */
export class Reattachment {
  readonly #options: ReattachmentOptions;
  /** Attempts of other hubs that are being adopted, by key. */
  readonly #resuming = new Map<string, PromiseWithResolvers<void>>();

  constructor(options: ReattachmentOptions) {
    this.#options = options;
  }

  async reattach({ running, finished }: NamedAttempts): Promise<Reattached> {
    const { attempts } = this.#options;
    const areKept = await Promise.all(running.map((name) => this.#keep(name)));
    // The daemon sends these results in any case, and each acknowledgement has the outcome.
    const areOpen = await Promise.all(finished.map((name) => this.#keep(name)));
    const kept = [...running.filter((_, at) => areKept[at]), ...finished.filter((_, at) => areOpen[at])];
    return {
      keep: kept.map(({ taskId }) => taskId),
      drop: running.flatMap(({ taskId }, at) => (areKept[at] ? [] : [taskId])),
      resume: kept.flatMap(({ taskId, token }) => {
        const attempt = attempts.get(attemptKey({ taskId, token }));
        return attempt ? [{ taskId, token, seq: attempt.seq }] : [];
      }),
    };
  }

  /** The attempt runs here now. */
  onStarted(key: string): void {
    this.#resuming.get(key)?.resolve();
  }

  /** Whether an attempt that the daemon names goes on here. */
  async #keep(name: AttemptName): Promise<boolean> {
    const { tenant, daemon, attempts, results, executor } = this.#options;
    const key = attemptKey(name);
    if (attempts.has(key) || results.isSettling(key)) return true;
    const ref = { tenant, id: name.taskId, token: name.token };
    // Its result is being settled, or it is another daemon's of this hub.
    if (executor.keeper.has(leaseMember(ref))) return (await readState(executor.ledger, tenant, name.taskId))?.daemon === daemon;
    await (this.#resuming.get(key)?.promise ?? this.#adopt(key, ref));
    return attempts.has(key);
  }

  /** Adopts an attempt of another hub, if it still runs. Resolves once it goes on here, or does not. */
  async #adopt(key: string, ref: { tenant: string; id: string; token: number }): Promise<void> {
    const { executor, daemon, inSlot } = this.#options;
    const resuming = Promise.withResolvers<void>();
    this.#resuming.set(key, resuming);
    try {
      const adopted = await adoptAttempt(executor.ledger, ref, { worker: executor.worker, daemon });
      if (adopted.kind === 'gone') return;
      const ending = inSlot(() => this.#resume(ref, adopted));
      await Promise.race([resuming.promise, ending]);
    } finally {
      resuming.resolve();
      this.#resuming.delete(key);
    }
  }

  async #resume(ref: Omit<AttemptRef, 'lane'>, adopted: Extract<AdoptAnswer, { kind: 'adopted' }>): Promise<TicketResult> {
    this.#options.onAdopted(ref);
    return await resumeAttempt(this.#options.executor, ref, adopted);
  }
}
