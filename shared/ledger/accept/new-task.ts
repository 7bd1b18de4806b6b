import { type QueueMode, rateWindows, type SourceClass, type TaskQueue } from '../../config/index.ts';
import type { SharedLane, TaskBody } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';

/** A task as a producer hands it to the ledger: checked, with every default in place. */
export interface NewTask {
  body: TaskBody;
  priority: number;
  queue: TaskQueue;
  /** For caps: the letter of its source class, and 0 for low priority, else 1. */
  class: string;
  /** For rates: the name of its source class. */
  rateClass: SourceClass;
  lane: { name: string; limit: number; order?: number } | null;
  /** Lanes that it needs besides its own: its agent's, its source's. */
  sharedLanes: SharedLane[];
  /** The caller's own key, and a digest of what it sent under it. */
  idempotency: { key: string; digest: string } | null;
  /** What becomes of it when it meets work in its lane; null just waits. */
  mode: QueueMode | null;
  /** How a chat's message came: in mode `interrupt` it gathers with others before it begins, and interrupts nothing when it is late. */
  arrival?: MessageArrival | undefined;
  /** Whether its input is one value, so that it carries on no input of what it replaces. Defaults to false. */
  isOneValue?: boolean;
  /** Whether messages may go into its run. */
  takesInput: boolean;
  /** Whether the next of its lane goes first while it waits for a retry. */
  yields: boolean;
  /** With an sla: so long before it the task would have to be accepted to stand where it stands among its equals. */
  slaLeadMs?: number;
  /** The id of the API key whose call waits for its end; absent when none does. */
  awaitedBy?: string | undefined;
  /** Whether the run of its parent waits for its end. Defaults to false. */
  parentWaits?: boolean;
  /** Why it is not to run; null when it is. */
  skip: string | null;
  /** What counts it among equal inputs in a row; absent when nothing does. */
  repeats?: RepeatRule;
}

/** When a chat's message was written, and what follows from that. */
export interface MessageArrival {
  /** By the platform's clock, in ms since the epoch; absent when it does not say. */
  sentAt?: number;
  /** How long it waits for further messages, which become one turn with it; 0 for not at all. */
  debounceMs: number;
  /** A message that was written so long before it came interrupts nothing. */
  lateAfterMs: number;
}

/** When equal inputs in a row are warned of, and held. */
export interface RepeatRule {
  /** Of all that its agent gets to read. */
  digest: string;
  /** So many in a row; 0 for never. */
  warn: number;
  hold: number;
  windowMs: number;
  maxHeld: number;
}

/** What a tenant may submit, for the scripts that accept tasks. */
export function submissionLimits(ledger: Ledger, tenant: string): Record<string, unknown> {
  const limits = ledger.limitsOf(tenant);
  if (!limits) return {};
  const rates = Object.entries(limits.rates).map(([name, rate]) => [name, rateWindows(rate)] as const);
  return {
    ...(rates.length === 0 ? {} : { rates: Object.fromEntries(rates) }),
    ...(limits.waiting === null ? {} : { waiting: limits.waiting }),
  };
}
