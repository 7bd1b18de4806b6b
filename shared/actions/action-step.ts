import pMap from 'p-map';
import type { Log } from '../log/index.ts';
import { isRedisUnavailable } from '../redis/index.ts';
import type { Clock } from '../time/index.ts';
import { type Action, hasEnded } from './action.ts';
import type { ActionStore, SaveOptions, StoredAction, TakenAction } from './action-store.ts';
import { applyToTask, type ApplyParts } from './apply-to-task.ts';
import { scanTasks, type TaskSelection } from './scan-tasks.ts';

export interface RunParts extends ApplyParts {
  readonly log: Log;
}

/** Applying one step to its tasks: so many at once, so that an action takes only a share of Redis. */
const CONCURRENCY = 10;
/** Tasks one step reads at most in search of matches. */
const MAX_READ = 2000;
/** Steps in a row that break off before the action fails. */
const MAX_FAULTS = 5;
/** Before a step that broke off is repeated; twice as long after each further one. */
const FAULT_MS = 1000;

/** With what, and how long, a worker may run a step. */
export interface StepHold {
  parts: RunParts;
  store: ActionStore;
  clock: Clock;
  /** Monotonic time at which another worker may repeat the step. */
  heldUntil: number;
}

/** What a step did. */
interface Counts {
  done: number;
  skipped: number;
  failed: number;
  error: string | null;
}

/** ActionStep is responsible for one step of an action: find its tasks, write them down, apply the action to each, write down the counts. */
export class ActionStep {
  readonly #hold: StepHold;
  readonly #taken: TakenAction;
  readonly #takenAt: number;

  constructor(hold: StepHold, taken: TakenAction) {
    this.#hold = hold;
    this.#taken = taken;
    this.#takenAt = hold.clock.monotonic();
  }

  async run(): Promise<void> {
    const { store, parts } = this.#hold;
    const { tenant, id } = this.#taken;
    let stored: StoredAction | null = null;
    try {
      stored = await store.find(tenant, id);
      if (!stored || hasEnded(stored.action)) await store.remove(this.#taken);
      else await this.#continue(stored);
    } catch (error) {
      if (isRedisUnavailable(error)) throw error;
      parts.log.error({ err: error, action: id, tenant }, 'a step of an action broke off');
      if (stored) await this.#breakOff(stored);
    }
  }

  async #continue(stored: StoredAction): Promise<void> {
    if (stored.action.status === 'cancelling') {
      await this.#end(stored, 'cancelled');
      return;
    }
    const begun = stored.action.step === null ? await this.#begin(stored) : stored;
    if (!begun?.action.step) return;
    const { ids, next } = begun.action.step;
    const counts = await this.#applyToAll(begun.action, ids);
    if (counts) await this.#finish(begun, counts, next);
  }

  /** Finds the tasks of the next step and writes them down: what a worker left halfway is known by that. */
  async #begin(stored: StoredAction): Promise<StoredAction | null> {
    const { action } = stored;
    const { ids, next } = await this.#findTasks(action);
    const found = action.done + action.skipped + action.failed + ids.length;
    const isLast = next === null;
    return await this.#save(stored, {
      ...action,
      status: 'running',
      startedAt: action.startedAt ?? this.#now(),
      matched: isLast ? found : Math.max(action.matched, found),
      isExact: action.isExact || isLast,
      step: { ids, next },
    });
  }

  async #findTasks({ id: before, tenant, action, filter, cursor, createdAt }: Action): Promise<{ ids: string[]; next: string | null }> {
    const { ledger } = this.#hold.parts;
    const { stepTasks } = ledger.settings.actions;
    const ids: string[] = [];
    let read = 0;
    // Tasks that ended since then are left out: else a task that fails again would be retried again.
    const selection: TaskSelection = { ...filter, before, endedUntil: createdAt };
    // A retried session keeps its order, and a cancelled one starts none of its tasks.
    for await (const batch of scanTasks(ledger, tenant, selection, { isOldestFirst: action !== 'cancel', cursor })) {
      ids.push(...batch.tasks.map(({ id }) => id));
      read += batch.read;
      if (ids.length > stepTasks) return { ids: ids.slice(0, stepTasks), next: ids[stepTasks - 1] ?? null };
      if (batch.next === null || ids.length === stepTasks || read >= MAX_READ) return { ids, next: batch.next };
    }
    return { ids, next: null };
  }

  /** Null when the lease ran out before the end: then another worker repeats the step. */
  async #applyToAll(action: Action, ids: readonly string[]): Promise<Counts | null> {
    const { parts, clock, heldUntil } = this.#hold;
    const counts: Counts = { done: 0, skipped: 0, failed: 0, error: null };
    let isHeld = true;
    const apply = async (id: string): Promise<void> => {
      isHeld &&= clock.monotonic() < heldUntil;
      if (!isHeld) return;
      try {
        counts[await applyToTask(parts, action, id)] += 1;
      } catch (error) {
        if (isRedisUnavailable(error)) throw error;
        counts.failed += 1;
        counts.error = `${id}: ${error instanceof Error ? error.message : 'unknown error'}`;
        parts.log.warn({ err: error, action: action.id, task: id, tenant: action.tenant }, 'an action could not be applied to a task');
      }
    };
    await pMap(ids, apply, { concurrency: CONCURRENCY });
    return isHeld ? counts : null;
  }

  async #finish(stored: StoredAction, counts: Counts, next: string | null): Promise<void> {
    const { action } = stored;
    const counted: Action = {
      ...action,
      done: action.done + counts.done,
      skipped: action.skipped + counts.skipped,
      failed: action.failed + counts.failed,
      error: counts.error ?? action.error,
      step: null,
      faults: 0,
    };
    if (next === null) {
      await this.#end({ ...stored, action: counted }, 'completed');
      return;
    }
    const saved = await this.#save(stored, { ...counted, cursor: next }, { afterMs: 0, event: 'action.progress' });
    if (!saved) await this.#endCancelled(stored, counted);
  }

  /** A person cancelled the action during its step, which counts. */
  async #endCancelled(before: StoredAction, counted: Action): Promise<void> {
    const { store } = this.#hold;
    const stored = await store.find(before.action.tenant, before.action.id);
    // Otherwise another worker has it.
    if (stored?.action.status !== 'cancelling' || stored.version !== before.version + 1) return;
    await this.#end({ ...stored, action: counted }, 'cancelled');
  }

  async #breakOff(stored: StoredAction): Promise<void> {
    const { store } = this.#hold;
    const latest = await store.find(stored.action.tenant, stored.action.id);
    if (!latest || hasEnded(latest.action)) return;
    const { action } = latest;
    const faults = action.faults + 1;
    if (faults >= MAX_FAULTS) await this.#end({ ...latest, action: { ...action, error: 'its steps broke off again and again' } }, 'failed');
    else await this.#save(latest, { ...action, faults }, { afterMs: FAULT_MS * 2 ** faults });
  }

  async #end(stored: StoredAction, status: 'completed' | 'cancelled' | 'failed'): Promise<void> {
    const { parts } = this.#hold;
    const { action } = stored;
    const ended: Action = { ...action, status, step: null, completedAt: this.#now() };
    const saved = await this.#save(stored, ended, { afterMs: parts.ledger.settings.actions.retentionMs, event: `action.${status}` });
    if (!saved) {
      if (status !== 'cancelled') await this.#endCancelled(stored, action);
      return;
    }
    const { id, tenant, matched, done, skipped, failed } = ended;
    const fields = { event: `action.${status}`, action: id, tenant, kind: action.action, matched, done, skipped, failed };
    parts.log.info(fields, `an action on many tasks is ${status}`);
  }

  async #save(stored: StoredAction, action: Action, options: SaveOptions = {}): Promise<StoredAction | null> {
    return await this.#hold.store.save(stored, { ...action, updatedAt: this.#now() }, options);
  }

  /** Redis's time, ms since the epoch. */
  #now(): number {
    return Math.round(this.#taken.now + this.#hold.clock.monotonic() - this.#takenAt);
  }
}
