import type { TaskQueue } from '#shared/config/sources.ts';
import type { SlotPool } from '#shared/ledger/claim/claim-for-slots.ts';
import { RunningSlots } from '#shared/queue/slots/running-slots.ts';
import type { SlotPolicy } from '#shared/queue/slots/slot-policy.ts';

const HOUR_MS = 3_600_000;
/** The queue that has a limiter. */
export const LIMITED: TaskQueue = 'webhooks';
const LIMIT = { max: 6, duration: HOUR_MS };

const shares = { high: 40, normal: 35, low: 15 };

interface Kind extends Omit<SlotPolicy, 'weights' | 'lowAgeMs'> {
  weights: Partial<Record<TaskQueue, number>>;
  /** Agents that others have and it lacks. */
  foreign: string;
}

/** A worker of all queues, one without chats and without an agent, one with other shares and people, and one for critical tasks alone. */
const KINDS: readonly Kind[] = [
  { slots: 12, reserved: 2, people: 2, weights: { critical: 2, chat: 4, webhooks: 2, tasks: 2, background: 1 }, shares, foreign: '' },
  { slots: 5, reserved: 1, people: 0, weights: { critical: 1, tasks: 3, background: 1 }, shares, foreign: ',own,' },
  { slots: 3, reserved: 0, people: 1, weights: { chat: 1, tasks: 1 }, shares: { high: 10, normal: 10, low: 80 }, foreign: '' },
  { slots: 2, reserved: 0, people: 0, weights: { critical: 2 }, shares, foreign: '' },
];

/** A worker, as far as the ledger knows of it. */
export class PlayedWorker<Running> {
  readonly name: string;
  readonly queues: TaskQueue[];
  readonly slots: RunningSlots;
  readonly running: Running[] = [];
  readonly #foreign: string;

  constructor(name: string, { weights, foreign, ...policy }: Kind) {
    const own = Object.entries(weights) as [TaskQueue, number][];
    this.name = name;
    this.queues = own.map(([queue]) => queue);
    this.#foreign = foreign;
    const limits = this.queues.includes(LIMITED) ? { [LIMITED]: LIMIT } : {};
    this.slots = new RunningSlots({ ...policy, weights: new Map(own), lowAgeMs: HOUR_MS }, limits);
  }

  pool(): SlotPool {
    return this.slots.pool(0, this.#foreign);
  }
}

export function playedWorkers<Running>(): PlayedWorker<Running>[] {
  return KINDS.map((kind, at) => new PlayedWorker<Running>(`w${at}`, kind));
}
