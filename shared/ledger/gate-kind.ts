import type { Gate, GateSort, TaskHold, WaitGate } from '../errors/index.ts';
import type { TaskState } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';

/** What gates differ by. A gate has one object of this, in one file, and a line in `gates.ts` of the errors. */
export interface GateKind {
  readonly gate: WaitGate;
  readonly sort: GateSort;
  /** For the table of docs/limits.md: why a task waits there, behind "The task waits". */
  readonly waits: string;
  /** How many tasks pass it, or when. */
  readonly limit: string;
  /** Which of those that wait goes first; null where none is before another. */
  readonly order: string | null;
  /** Whoever, or what, lets a task go on. */
  readonly opens: string;
  /** What helps, for people: the same words in `why`, in chats, in findings and in refusals. */
  readonly helps: string;
  /** From which on a wait there is long, ms; a minute unless it says otherwise. */
  readonly longMs?: number;
  /** How well the end of a wait there is known: with one more start (`place`), or not at all (`never`). Without it by what is before the task. */
  readonly foreseen?: 'place' | 'never';
  /** In a chat, whose people know neither queues nor tickets. `behind`: `it is next`, or how many are before it. */
  readonly inChat?: (behind: string) => string;
}

/** What holds a task, as it is now: in words, with its figures, and until when, ms since the epoch, where that is known. */
export interface HoldReport {
  detail: string;
  facts: Readonly<Record<string, number | string | null>>;
  until: number | null;
}

/** A gate that holds tasks until a release. How they are listed, ordered, counted, released and found again is the same for all. */
export interface HoldKind extends GateKind {
  readonly sort: 'hold';
  /**
   * What holds a tenant's task, as it is now; null for what does not hold any more. `ahead`: tasks of the tenant that it releases before. Without it
   * a hold says what the attempt said.
   */
  explain?(tenant: string, what: string, ahead: number): Promise<HoldReport | null>;
  /** What a task waits for that has a time there, and no hold. `at`: that time, in words. */
  describeTime?(at: string): string;
  /** What a task of this tenant waits for that was given to what it was held for, and has not begun. */
  explainGiven?(tenant: string, state: TaskState): Promise<HoldReport & { helps: string; since: number | null }>;
  /** Whether a chore releases what it holds once `explain` finds nothing any more. Else whoever knows of its end does, or its time. */
  readonly endsWithCause?: true;
  /** Whether its tasks come back at their time to see whether there is room, as `why` says. Else that time is a bound. */
  readonly comesBack?: true;
  /** What a person's retry of one of its tasks does: it releases all that this holds. Without it the retry starts that one alone. */
  releaseByHand?(ledger: Ledger, tenant: string, hold: TaskHold): Promise<void>;
  /** Has a task pass that a person retries, before it starts. Without it nothing holds such a task again at once. */
  admitByHand?(tenant: string, id: string, what: string): Promise<void>;
}

/** The line of a hold, which is the same for all. */
export const HOLD_ORDER = 'priority, then age';

/** By gate. */
export type GateKinds = Readonly<Record<string, GateKind>>;

function isHold(kind: GateKind): kind is HoldKind {
  return kind.sort === 'hold';
}

/** The kind of what holds a task; undefined in a process that does not know it. */
export function holdKind({ gates }: Pick<Ledger, 'gates'>, gate: Gate): HoldKind | undefined {
  const kind = gates[gate];
  return kind && isHold(kind) ? kind : undefined;
}
