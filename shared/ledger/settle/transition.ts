import { scriptJson } from '../../redis/index.ts';
import type { SharedLane, TaskStatus, UsageRow } from '../../tasks/index.ts';
import type { Seal } from '../../tenants/index.ts';
import type { AttemptRef } from '../claim/leases.ts';
import { entryText, type NumberedEntry } from '../journal/entry.ts';
import type { AgentEnd } from './agent-failures.ts';

/**
 * What the ledger does with a task whose attempt has ended, if the task is still as it was seen. `settle-attempts.lua` gets it as it is: the
 * texts, which may be long, or deeper than Lua reads, as an argument each, and the rest as one of JSON. What is absent does not apply.
 */
export interface Transition extends AttemptRef {
  /** When the attempt ended, ms since the epoch: its usage counts for that day. */
  endedAt: number;
  /** Of the task, for caps. */
  class: string;
  /** How many tasks its lane holds at once. */
  laneLimit?: number | undefined;
  sharedLanes?: readonly SharedLane[] | undefined;
  /** The status of the next state. */
  status: TaskStatus;
  /**
   * How the task goes on. `again`: now, under a new ticket. `yield`: later, and others of its lane may go before it. `hold`: when it is released,
   * or due. `backlog`, `lanes`: behind the critical task that it made room for, there.
   */
  continuation: 'end' | 'again' | 'later' | 'yield' | 'hold' | 'backlog' | 'lanes';
  /** For `later`, `yield` and perhaps `hold`, ms since the epoch. */
  dueAt?: number | undefined;
  /** Types of the events of its steps, and what they say besides. */
  events: readonly string[];
  fact?: Readonly<Record<string, unknown>> | undefined;
  /** What the attempt adds to the rows of its day. */
  usage?: readonly UsageRow[] | undefined;
  /** Of a task that ends. */
  ended?: TaskEnd;
  /** How its lease was found, of an attempt that another process takes back. */
  lost?: LostLease;
  /** What its run asked people while it ran, by the question's id, and asks no more so. */
  asked?: string | undefined;
  /** The number of the entry that a suspended run waits at, and whether somebody has to see to that wait: what it waits for may have come before. */
  entry?: number | undefined;
  isWatched?: boolean | undefined;
  /** Text: the state as it was seen. */
  seen: string;
  /** Text: the state that follows. */
  next: string;
  /** Text: the record of the attempt, JSON, when others may follow; the last one is in the state itself. */
  attempt: string;
  /** Text: of a task that completed. */
  output: string;
  /** Text: of a task that completed, JSON; empty for none. */
  result: string;
  /** The entry that a suspended run waits at. */
  waiting?: NumberedEntry | undefined;
}

export interface TaskEnd {
  /** Where its end is found. */
  lookup: string;
  /** Who is notified of it, `<kind>/<completed at, ms>`. A subscriber knows by that whether it has received this end already. */
  subscribers?: readonly string[] | undefined;
  hasDeadline?: true | undefined;
  /** What counts for the failures of its agent in a row. */
  agent?: AgentEnd | undefined;
}

interface LostLease {
  /** Whether its process has ended, whatever the lease says. */
  isGone: boolean;
  /** What it had used by its last report, as that was read; empty without one. */
  reported: string;
}

/** A transition as the script takes it. Tasks that end alike have the same JSON, which the script then decodes once. */
export function transitionArguments(seal: Seal, { tenant, lane: _lane, endedAt: _endedAt, ...transition }: Transition): string[] {
  const { id, token, seen, next, attempt, output, result, waiting, ...rest } = transition;
  return [scriptJson(rest), id, `${token}`, seen, next, attempt, output, result, waiting ? entryText(seal, { tenant, id }, waiting) : ''];
}
