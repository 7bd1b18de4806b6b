import type { AgentInput } from '../../config/index.ts';
import { type Ledger, parseState, readInputs, takeInput, type TakenInput } from '../../ledger/index.ts';
import type { Span } from '../../log/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { composeInput } from '../../sessions/index.ts';
import type { Execution } from '../execution.ts';
import type { BroughtFiles } from './attachment-opener.ts';
import type { AttemptFiles } from './attempt-files.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface GatheredInput {
  /** The agent's prompt. */
  text: string;
  /** The messages that are part of it, by id. */
  given: string[];
  /** Files of the task and of these messages. */
  brought: BroughtFiles[];
}

/**
 * Composes an attempt's prompt: its task's own text and every message that belongs to it, those that an earlier attempt took too. A
 * task of mode `collect` first takes what waits behind it. An agent that runs already has its prompt; what went into its run may not have
 * reached it, and counts as not given. Rejects with the signal's reason when the attempt is stopped.
 */
export async function gatherInput(ledger: Ledger, { body, state, attempt, journal, span, isResumed }: Execution): Promise<GatheredInput> {
  if (isResumed) {
    const given = (state.inputs ?? []).filter(({ how }) => how !== 'steered').map(({ id }) => id);
    return { text: body.input, given, brought: [] };
  }
  const hasOnlyItsOwn = state.collect === undefined && state.inputs === undefined && state.leftOut === undefined;
  if (hasOnlyItsOwn) return { text: body.input, given: [], brought: [filesOf(body)] };
  // Before any message is taken for a run that will not be.
  attempt.throwIfStopped();
  const gather = async (): Promise<GatheredInput> => {
    // A run that has a journal keeps the prompt with which it began: what was taken since, it gets by `context.input` again.
    const { given } = journal;
    if (state.collect && !given) await collect(ledger, attempt);
    const gathered = parseState(attempt.stored, attempt.first);
    const parts = (gathered.inputs ?? []).filter(({ id }) => !given || given.includes(id));
    const inputs = await readInputs(ledger, body.tenant, parts);
    span?.link(inputs.map(({ traceparent }) => traceparent));
    const brought = [filesOf(body), ...inputs.map(filesOf)];
    return { text: composeInput(body.input, inputs, gathered), given: parts.map(({ id }) => id), brought };
  };
  return await retryWhileAway(gather, { signal: () => attempt.signal });
}

function filesOf({ id, attachments }: Pick<TakenInput, 'id' | 'attachments'>): BroughtFiles {
  return { task: id, attachments: attachments ?? [] };
}

/** Merges waiting messages into the turn, up to its cap, over all attempts. */
async function collect(ledger: Ledger, attempt: RunningAttempt): Promise<void> {
  const merged = (parseState(attempt.stored, attempt.first).inputs ?? []).filter(({ how }) => how === 'merged').length;
  const room = ledger.settings.routing.queue.collect.cap - 1 - merged;
  if (room <= 0) return;
  const answer = await takeInput(ledger, attempt.ref, 'merged', room);
  if (answer.kind === 'taken') noteTaken(ledger, attempt, answer);
  else attempt.stop({ kind: 'lease-lost' });
  attempt.throwIfStopped();
}

/** Each message that was taken ended as part of the attempt's task. */
function noteTaken({ counts }: Ledger, attempt: RunningAttempt, { stored, inputs }: { stored: string; inputs: readonly unknown[] }): void {
  attempt.changed(stored);
  for (let taken = 0; taken < inputs.length; taken += 1) counts.taskEnded(attempt.ref.tenant, attempt.first, 'skipped');
}

interface InputChannelOptions {
  ledger: Ledger;
  attempt: RunningAttempt;
  files: Pick<AttemptFiles, 'open'>;
  /** Messages that the agent has from its beginning, by id. */
  given: readonly string[];
  /** Of the attempt, which names the messages that it takes. */
  span?: Span | undefined;
}

/** Hands a running agent its messages. */
export interface Inputs {
  take(): Promise<readonly AgentInput[]>;
  /** Messages that an earlier attempt handed out, by id. */
  again(ids: readonly string[]): Promise<readonly AgentInput[]>;
}

/** Messages taken by one script; the next call takes the others. */
const MAX_TAKEN = 100;

/**
 * InputChannel is responsible for handing a running agent each message that belongs to its run once, and for reading from Redis only when
 * there may be one. A message that the ledger counts as taken is handed out even when the answer of Redis was lost.
 */
export class InputChannel implements Inputs {
  readonly #options: InputChannelOptions;
  readonly #given: Set<string>;
  #taking: Promise<unknown> = Promise.resolve();

  constructor(options: InputChannelOptions) {
    this.#options = options;
    this.#given = new Set(options.given);
  }

  /** As `AgentContext.input` says. Calls at the same time are answered one after the other. */
  async take(): Promise<readonly AgentInput[]> {
    const taken = this.#taking.then(() => this.#takeOnce());
    this.#taking = taken.catch(() => undefined);
    return await taken;
  }

  async again(ids: readonly string[]): Promise<readonly AgentInput[]> {
    const { ledger, attempt } = this.#options;
    for (const id of ids) this.#given.add(id);
    const parts = (parseState(attempt.stored, attempt.first).inputs ?? []).filter(({ id }) => ids.includes(id));
    return await this.#open(await retryWhileAway(() => readInputs(ledger, attempt.ref.tenant, parts), { signal: () => attempt.signal }));
  }

  async #takeOnce(): Promise<readonly AgentInput[]> {
    const { attempt } = this.#options;
    attempt.throwIfStopped();
    if (!attempt.takeInputNotice()) return [];
    const inputs = await retryWhileAway(() => this.#takeNew(), { signal: () => attempt.signal });
    // After a stop the agent is to end, and the next attempt gets the messages again.
    attempt.throwIfStopped();
    this.#options.span?.link(inputs.map(({ traceparent }) => traceparent));
    return await this.#open(inputs);
  }

  async #open(inputs: readonly TakenInput[]): Promise<readonly AgentInput[]> {
    const { files } = this.#options;
    return await Promise.all(
      inputs.map(async (input) => {
        const attachments = await files.open([filesOf(input)]);
        return { id: input.id, text: input.text, user: input.user, attachments };
      }),
    );
  }

  async #takeNew(): Promise<TakenInput[]> {
    const { ledger, attempt } = this.#options;
    const answer = await takeInput(ledger, attempt.ref, 'steered', MAX_TAKEN);
    if (answer.kind === 'lost') {
      attempt.stop({ kind: 'lease-lost' });
      return [];
    }
    noteTaken(ledger, attempt, answer);
    if (answer.inputs.length === MAX_TAKEN) attempt.notifyInput();
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
