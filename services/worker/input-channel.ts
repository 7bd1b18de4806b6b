import type { AgentInput } from '#shared/config/index.ts';
import { type Ledger, parseState, readInputs, takeInput, type TakenInput } from '#shared/ledger/index.ts';
import type { RunningAttempt } from './running-attempt.ts';
import { untilRedisAnswers } from './until-redis-answers.ts';

export interface InputChannelOptions {
  ledger: Ledger;
  attempt: RunningAttempt;
  /** Messages that the agent has from its beginning, by id. */
  given: readonly string[];
}

/** Messages taken by one script; what is left is taken by the next call. */
const MOST = 100;

/**
 * InputChannel is responsible for handing a running agent each message that belongs to its run once, and for asking Redis only when
 * there may be one. What the ledger counts as taken was handed out, also when an answer of Redis was lost on its way.
 */
export class InputChannel {
  readonly #options: InputChannelOptions;
  readonly #given: Set<string>;
  #taking: Promise<unknown> = Promise.resolve();

  constructor(options: InputChannelOptions) {
    this.#options = options;
    this.#given = new Set(options.given);
  }

  /** As `AgentContext.input` says. Calls under way at once are answered one after the other. */
  async take(): Promise<readonly AgentInput[]> {
    const taken = this.#taking.then(() => this.#takeOnce());
    this.#taking = taken.catch(() => undefined);
    return await taken;
  }

  async #takeOnce(): Promise<readonly AgentInput[]> {
    const { attempt } = this.#options;
    attempt.throwIfStopped();
    if (!attempt.answerToInput()) return [];
    const inputs = await untilRedisAnswers(attempt.signal, () => this.#ask());
    // A stop that came meanwhile: the agent is to end, and whoever runs the task next gets them again.
    attempt.throwIfStopped();
    return inputs.map(({ id, text, user }) => ({ id, text, user }));
  }

  async #ask(): Promise<TakenInput[]> {
    const { ledger, attempt } = this.#options;
    const answer = await takeInput(ledger, attempt.ref, 'steered', MOST);
    if (answer.kind === 'lost') {
      attempt.stop({ kind: 'lease-lost' });
      return [];
    }
    attempt.changed(answer.stored);
    if (answer.inputs.length === MOST) attempt.tellOfInput();
    const parts = parseState(answer.stored, attempt.first).inputs ?? [];
    const fresh = answer.inputs.filter(({ id }) => !this.#given.has(id));
    const seen = new Set([...this.#given, ...fresh.map(({ id }) => id)]);
    // Taken by an earlier call whose answer did not arrive.
    const missed = parts.filter(({ id }) => !seen.has(id));
    const inputs = missed.length === 0 ? fresh : [...(await readInputs(ledger, attempt.ref.tenant, missed)), ...fresh];
    for (const { id } of parts) this.#given.add(id);
    return inputs;
  }
}
