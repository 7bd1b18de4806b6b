import { MusterError } from '#shared/errors/index.ts';
import { type EventFeed, watchTask } from '#shared/events/index.ts';
import { type Ledger, readState } from '#shared/ledger/index.ts';
import { type Keys, pairs, type RedisClient } from '#shared/redis/index.ts';
import { isTerminal } from '#shared/tasks/index.ts';
import { taskNotFound } from '../../tasks/find-tasks.ts';
import { type OutputEntry, OutputText, type TextStep } from './output-text.ts';
import { readAnswer, type RunAnswer } from './run-answer.ts';

export interface FollowPorts {
  readonly ledger: Ledger;
  readonly events: EventFeed;
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** An answer of a task's run: which of them, from 1. */
export interface AnswerRef {
  readonly tenant: string;
  readonly id: string;
  readonly part: number;
}

/** Longest between two reads, for when a hint was lost. */
const POLL_MS = 2000;
/** Entries read at once. */
const PAGE = 200;

/** Waits for the end of an answer. Errors: `task.not-found` for one that is not there any more; `unavailable.shutting-down` once the caller is gone. */
export async function waitForAnswer(ports: Pick<FollowPorts, 'ledger' | 'events'>, ref: AnswerRef, gone: AbortSignal): Promise<RunAnswer> {
  const watch = watchTask(ports.events, ref.tenant, ref.id, gone);
  const end = new AnswerEnd(ports.ledger, await findAnswer(ports.ledger, ref));
  try {
    for (;;) {
      const ended = await end.check();
      if (ended) return ended;
      await watch.next(POLL_MS, true);
      assertThere(gone);
    }
  } finally {
    watch.stop();
  }
}

/** The pieces of an answer from its start on, while it is written, and at last the ended one. Errors: as `waitForAnswer`. */
export async function* followAnswer(
  ports: FollowPorts,
  first: RunAnswer,
  gone: AbortSignal,
): AsyncGenerator<TextStep | { readonly kind: 'ended'; readonly answer: RunAnswer }> {
  const { id, tenant } = first.task.body;
  const watch = watchTask(ports.events, tenant, id, gone);
  const text = new OutputText(first.from);
  const entries = new OutputEntries(ports, { tenant, id });
  const end = new AnswerEnd(ports.ledger, first);
  try {
    for (;;) {
      // Before the output: what was written before the end is then sent before it.
      const answer = await end.check();
      for await (const page of entries.readNew()) {
        assertThere(gone);
        // After the entries: those of the next answer come behind the end of this one.
        const to = await end.checkCalls();
        yield* text.take(page, to);
      }
      if (answer) return yield* endOf(answer, text);
      await watch.next(POLL_MS);
      assertThere(gone);
    }
  } finally {
    watch.stop();
  }
}

function* endOf(answer: RunAnswer, text: OutputText): Generator<TextStep | { readonly kind: 'ended'; readonly answer: RunAnswer }> {
  if (answer.calls.length > 0 || answer.task.state.status === 'completed') yield* text.end(answer.text);
  yield { kind: 'ended', answer };
}

/** AnswerEnd is responsible for finding out when an answer has ended, without reading more of its run than it has to. */
class AnswerEnd {
  readonly #ledger: Ledger;
  readonly #ref: AnswerRef;
  readonly #mayCall: boolean;
  #ended: RunAnswer | null;
  /** The attempt after which the run was looked at last. */
  #token = -1;

  constructor(ledger: Ledger, { task, part, ...answer }: RunAnswer) {
    this.#ledger = ledger;
    this.#ref = { tenant: task.body.tenant, id: task.body.id, part };
    this.#mayCall = task.body.request?.functions !== undefined;
    this.#ended = answer.hasEnded ? { ...answer, task, part } : null;
  }

  /** The answer once it has ended; else null. Errors: `task.not-found`. */
  async check(): Promise<RunAnswer | null> {
    if (this.#ended) return this.#ended;
    const state = await readState(this.#ledger, this.#ref.tenant, this.#ref.id);
    if (!state) throw taskNotFound(this.#ref.id);
    // A run comes to calls by the end of an attempt, and goes on behind them with another.
    const mayHaveCalled = this.#mayCall && (state.gate === 'caller' || state.token !== this.#token);
    if (!isTerminal(state.status) && !mayHaveCalled) return null;
    const answer = await findAnswer(this.#ledger, this.#ref);
    this.#token = state.token;
    if (answer.hasEnded) this.#ended = answer;
    return this.#ended;
  }

  /** Where in the output of its run it ends, as far as it is known that it ends there. */
  async checkCalls(): Promise<number> {
    if (this.#mayCall) await this.check();
    return this.#ended === null || this.#ended.calls.length === 0 ? Infinity : this.#ended.to;
  }
}

/** An answer that is there. Errors: `task.not-found`. */
export async function findAnswer(ledger: Ledger, ref: AnswerRef): Promise<RunAnswer> {
  const answer = await readAnswer(ledger, ref);
  if (!answer) throw taskNotFound(ref.id);
  return answer;
}

/** OutputEntries is responsible for reading each entry of a task's output once. */
class OutputEntries {
  readonly #redis: RedisClient;
  readonly #key: string;
  #after: string | null = null;

  constructor({ redis, keys }: Pick<FollowPorts, 'redis' | 'keys'>, { tenant, id }: { tenant: string; id: string }) {
    this.#redis = redis;
    this.#key = keys.tenant(tenant).output(id);
  }

  /** Those that were written since the last call, by pages. */
  async *readNew(): AsyncGenerator<OutputEntry[]> {
    for (;;) {
      const page = await this.#redis.xrange(this.#key, this.#after === null ? '-' : `(${this.#after}`, '+', 'COUNT', PAGE);
      this.#after = page.at(-1)?.[0] ?? this.#after;
      if (page.length > 0) yield page.map(([, fields]) => entryOf(fields));
      if (page.length < PAGE) return;
    }
  }
}

function entryOf(fields: readonly string[]): OutputEntry {
  const byName = new Map(pairs(fields));
  return { seq: Number(byName.get('seq')), text: byName.get('text') ?? '' };
}

/** An answer that ends without its last word is cut, so that nobody takes it for a complete one. */
function assertThere(gone: AbortSignal): void {
  if (gone.aborted) throw new MusterError('unavailable.shutting-down', 'The answer is cut: ask for it again');
}
