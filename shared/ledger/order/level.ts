import type { TaskQueue } from '../../config/index.ts';
import { SortedLine } from './sorted-line.ts';

/** A task that stands at `slot`. */
export interface Standing {
  id: string;
  tenant: string;
  queue: TaskQueue;
  priority: number;
  /** When it counts from, which an sla brings forward, and when it was accepted, ms. */
  from: number;
  acceptedAt: number;
  /** What it counts in its tenant's turns: ms of a slot. */
  costMs: number;
  agent: string;
  /** The version of it that its run began with. */
  version?: string | undefined;
  /** The key that waits for it. */
  awaitedBy?: string | undefined;
}

/** Whether the first counts from an earlier time. */
export function isOlder(one: Pick<Standing, 'from' | 'id'>, other: Pick<Standing, 'from' | 'id'>): boolean {
  return one.from === other.from ? one.id < other.id : one.from < other.from;
}

type MayRun = (task: Standing) => boolean;

/**
 * Level is responsible for the tasks of one queue and priority. Their tenants take turns by start-time fair queueing: each has a virtual time,
 * to which each of its starts adds the cost of the task divided by the tenant's weight, and the lowest time is next. A single tenant has none.
 */
export class Level {
  readonly #lines = new Map<string, SortedLine<Standing>>();
  readonly #times = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  get tasks(): Standing[] {
    return [...this.#lines.values()].flatMap(({ items }) => items);
  }

  /** A tenant that comes is not before the one whose turn it is, nor before the end of what it has had. */
  add(task: Standing): void {
    const { tenant } = task;
    const time = this.#presentTime();
    const waiting = [...this.#lines.keys()];
    const line = this.#lines.get(tenant) ?? new SortedLine<Standing>(isOlder);
    this.#lines.set(tenant, line);
    line.add(task);
    if (time === null && waiting.every((each) => each === tenant)) return;
    if (time === null) for (const each of waiting) this.#times.set(each, 0);
    this.#times.set(tenant, Math.max(this.#times.get(tenant) ?? 0, time ?? 0));
  }

  /** Returns whether the task stood here. */
  remove(task: Pick<Standing, 'id' | 'tenant'>): boolean {
    const line = this.#lines.get(task.tenant);
    const isThere = line?.remove(task) ?? false;
    if (line?.size === 0) this.#lines.delete(task.tenant);
    return isThere;
  }

  /** A task of its tenant starts. Where nothing waits any more the turns are forgotten. */
  take(task: Standing, weight: number): void {
    this.remove(task);
    const time = this.#times.get(task.tenant);
    if (this.isEmpty) this.#times.clear();
    else if (time !== undefined) this.#times.set(task.tenant, time + Math.ceil(task.costMs / weight));
  }

  /** The oldest task of the tenant whose turn it is, of those that may run; undefined for none. */
  next(mayRun: MayRun): Standing | undefined {
    const firsts = [...this.#lines.values()].flatMap(({ items }) => items.find((task) => mayRun(task)) ?? []);
    const [head, ...others] = firsts;
    return others.reduce((best: Standing | undefined, each) => (best && this.#hasEarlierTurn(each, best) ? each : best), head);
  }

  #hasEarlierTurn({ tenant: one }: Standing, { tenant: other }: Standing): boolean {
    const difference = (this.#times.get(one) ?? 0) - (this.#times.get(other) ?? 0);
    return difference === 0 ? one < other : difference < 0;
  }

  /** That of the tenant whose turn it is; null without turns. Tenants without tasks are forgotten once it has passed their own. */
  #presentTime(): number | null {
    const times = [...this.#times].flatMap(([tenant, time]) => (this.#lines.has(tenant) ? [time] : []));
    const present = times.length === 0 ? null : Math.min(...times);
    for (const [tenant, time] of this.#times) {
      if (!this.#lines.has(tenant) && (present === null || time < present)) this.#times.delete(tenant);
    }
    return present;
  }
}
