import { sendInOneWrite } from '../redis/index.ts';
import type { Ledger } from './ledger.ts';

/**
 * Runs many items of one group in one script; answers in their order. An error among the answers is that item's alone. `next`: items of
 * batches that are sent right behind this one, and rely on what it changes.
 */
type BatchRun<Item, Answer> = (ledger: Ledger, items: readonly Item[], next: readonly unknown[]) => Promise<(Answer | Error)[]>;

/** What an item is added to: items of the same run and group go into one call. */
export interface Batch<Item, Answer> {
  ledger: Ledger;
  run: BatchRun<Item, Answer>;
  group: string;
  /** Calls of this run that were added before go first: this one relies on what they change. */
  after?: BatchRun<never, unknown>;
  /** It is sent at once, with those that were gathered until now. */
  isUrgent?: boolean;
}

/** Gathers calls of one turn of the event loop, because one script for fifty tasks costs Redis a fraction of fifty scripts. */
export interface Batches {
  add<Item, Answer>(batch: Batch<Item, Answer>, item: Item): Promise<Answer>;
}

interface Call<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Tasks one script handles at most, or twice as many of a script that another one follows. Fewer share its cost among too few; more make
 * Redis and this process wait for each other in turn, and hold everybody else up for longer. Measured by `npm run bench` with 16, 32 and 64.
 */
export const MAX_ITEMS = 32;

/** CallBatches is responsible for keeping the calls of this turn of the event loop until their batch runs. */
export class CallBatches implements Batches {
  /** By the run, and by the group within. */
  readonly #waiting = new Map<unknown, Map<string, Call<unknown, never>[]>>();
  /** By a run, those that come after it. */
  readonly #next = new Map<unknown, Set<unknown>>();

  async add<Item, Answer>(batch: Batch<Item, Answer>, item: Item): Promise<Answer> {
    const { run, after } = batch;
    if (after) this.#next.set(after, (this.#next.get(after) ?? new Set()).add(run));
    return await new Promise((resolve, reject) => {
      const calls = this.#callsOf(batch);
      calls.push({ item, resolve, reject });
      if (calls.length === 1) setImmediate(() => this.#flush(batch, calls));
      if (batch.isUrgent || calls.length >= this.#maxOf(run)) this.#flush(batch, calls);
    });
  }

  /** Calls that others follow wait for those, within a bound, so that both are sent in one write. */
  #maxOf(run: unknown): number {
    return this.#next.has(run) ? 2 * MAX_ITEMS : MAX_ITEMS;
  }

  #callsOf<Item, Answer>({ run, group }: Batch<Item, Answer>): Call<Item, Answer>[] {
    const groups = this.#waiting.get(run) ?? new Map<string, Call<unknown, never>[]>();
    this.#waiting.set(run, groups);
    const calls = groups.get(group) ?? [];
    groups.set(group, calls);
    return calls as unknown as Call<Item, Answer>[];
  }

  /** Does nothing for calls that have been run already, because there were as many as one script takes. */
  #flush<Item, Answer>(batch: Batch<Item, Answer>, calls: Call<Item, Answer>[]): void {
    if ((this.#waiting.get(batch.run)?.get(batch.group) as unknown) !== calls) return;
    sendInOneWrite(batch.ledger.redis, () => this.#send(batch, calls));
  }

  #send<Item, Answer>({ ledger, run, group, after }: Batch<Item, Answer>, calls: Call<Item, Answer>[]): void {
    for (const [name, before] of this.#waiting.get(after) ?? []) {
      this.#flush({ ledger, run: after as BatchRun<unknown, never>, group: name }, before);
    }
    this.#waiting.get(run)?.delete(group);
    // The map's outgrown tables still refer to the array, until the old generation is collected.
    const taken = calls.splice(0);
    run(
      ledger,
      taken.map(({ item }) => item),
      this.#itemsAfter(run),
    ).then(
      (answers) => taken.forEach((call, position) => answerCall(call, answers[position])),
      (error: unknown) => taken.forEach((call) => call.reject(error)),
    );
  }

  #itemsAfter(run: unknown): unknown[] {
    const items: unknown[] = [];
    for (const next of this.#next.get(run) ?? []) {
      for (const calls of this.#waiting.get(next)?.values() ?? []) items.push(...calls.map(({ item }) => item));
    }
    return items;
  }
}

function answerCall<Item, Answer>({ resolve, reject }: Call<Item, Answer>, answer: Answer | Error | undefined): void {
  if (answer instanceof Error) reject(answer);
  else resolve(answer as Answer);
}

/** Runs the items of a batch tenant by tenant, all in one call of `run`, and returns the answers in the order of the items. */
export async function runByTenant<Item, Answer>(
  items: readonly Item[],
  tenantOf: (item: Item) => string,
  run: (parts: readonly (readonly Item[])[]) => Promise<readonly (readonly (Answer | Error)[])[]>,
): Promise<(Answer | Error)[]> {
  const [first] = items;
  if (first === undefined) return [];
  const tenant = tenantOf(first);
  if (items.every((item) => tenantOf(item) === tenant)) return [...((await run([items]))[0] ?? [])];
  const parts = [...Map.groupBy(items.entries(), ([, item]) => tenantOf(item)).values()];
  const answers = await run(parts.map((part) => part.map(([, item]) => item)));
  const ordered: (Answer | Error)[] = [];
  for (const [at, part] of parts.entries()) {
    for (const [position, [index]] of part.entries()) ordered[index] = answers[at]?.[position] as Answer | Error;
  }
  return ordered;
}

/** The answers to items of which none was run. */
export function failuresOf(items: readonly unknown[], error: Error | undefined, what: string): Error[] {
  return items.map(() => scriptFailure(error?.message ?? 'no answer', what));
}

/**
 * Why a script failed for one task of many. The server's own word stays in front, by which callers know that Redis cannot serve now
 * and that the same call may succeed later.
 */
export function scriptFailure(reason: string, what: string): Error {
  return new Error(`${reason} (${what})`);
}
