import { z } from 'zod';
import type { AgentInput, AgentTurn } from '../../config/index.ts';
import type { NumberedEntry } from '../../ledger/index.ts';
import type { Inputs } from '../attempt/attempt-input.ts';
import { HeardTexts } from './heard-texts.ts';
import { valueOf } from './recorded-journal.ts';

/** What a run has of its journal where it is. */
interface Place {
  /** Whether it has begun an entry: before that, what it got is part of its definition. */
  readonly hasBegun: boolean;
  /** The entry that an earlier attempt had next. */
  readonly next: NumberedEntry | undefined;
  /** What an earlier attempt got here; null where this one is the first. Errors: JOURNAL_MISMATCH. */
  replayInput(name: string): NumberedEntry | null;
  /** Writes what it got here, as JSON. */
  writeInput(name: string, value: string): Promise<void>;
}

const MESSAGES = 'messages';
const HISTORY = 'history';

const idsSchema = z.array(z.string());
const idsOf = (entry: NumberedEntry): string[] => idsSchema.parse(valueOf(entry));

/** JournalInputs is responsible for a run getting the messages and the history that it got first, where it got them. */
export class JournalInputs {
  readonly #place: Place;
  /** Messages that are part of the prompt of this attempt, by id. */
  given: readonly string[] = [];
  /** The turns that the run had before its first entry, by the ids of their tasks; null for a run that did not ask. */
  history: readonly string[] | null = null;
  /** The same of the attempt that began the run. */
  firstHistory: readonly string[] | null = null;

  readonly heard = new HeardTexts();
  /** What the run's runner goes by, JSON; undefined for nothing. */
  definition: unknown;

  constructor(place: Place) {
    this.#place = place;
  }

  /** See `AgentContext.input`. */
  async takeInput(inputs: Inputs): Promise<readonly AgentInput[]> {
    const { next, hasBegun } = this.#place;
    if (next?.kind === 'input' && next.name === MESSAGES) {
      const known = this.#place.replayInput(MESSAGES);
      if (known) return await inputs.again(idsOf(known));
    }
    // Nothing had come when the run was here first.
    if (next) return [];
    const taken = await inputs.take();
    const ids = taken.map(({ id }) => id);
    // They are part of the prompt of a later attempt.
    if (!hasBegun) this.given = [...this.given, ...ids];
    else if (ids.length > 0) await this.#place.writeInput(MESSAGES, JSON.stringify(ids));
    return taken;
  }

  /** See `AgentContext.history`. Turns that are not kept any more are left out. */
  async takeHistory(read: () => Promise<readonly AgentTurn[]>): Promise<readonly AgentTurn[]> {
    if (!this.#place.hasBegun) {
      const turns = only(await read(), this.firstHistory);
      this.history = idsOfTurns(turns);
      return turns;
    }
    const known = this.#place.replayInput(HISTORY);
    const turns = only(await read(), known && idsOf(known));
    if (!known) await this.#place.writeInput(HISTORY, JSON.stringify(idsOfTurns(turns)));
    return turns;
  }
}

function only(turns: readonly AgentTurn[], ids: readonly string[] | null): readonly AgentTurn[] {
  return ids === null ? turns : turns.filter(({ taskId }) => ids.includes(taskId));
}

function idsOfTurns(turns: readonly AgentTurn[]): string[] {
  return turns.map(({ taskId }) => taskId);
}
