import type { TenantLimits } from '../config/index.ts';
import type { PastTask } from './past-task.ts';

/** What caps do to a task. */
export interface CapsOutcome {
  waitedMs: number;
  /** Names of the limits that it waited for, such as `running` or `runningByClass.user`. */
  limits: string[];
  /** Refused because too many waited: it never runs. */
  isRefused: boolean;
}

export type Caps = Pick<TenantLimits, 'running' | 'runningByClass' | 'runningLow' | 'runningByAgent' | 'waiting'>;

/** What caps would have done to tasks that ran as long as these, each from its `readyAt` on. In the order of the tasks. Pure. */
export function simulateCaps(tasks: readonly PastTask[], caps: Caps): CapsOutcome[] {
  const entries = tasks.map((task) => entryOf(task, caps));
  const simulation = new CapSimulation(caps.waiting ?? Infinity);
  for (const entry of entries.toSorted((a, b) => a.task.readyAt - b.task.readyAt || compareIds(a, b))) simulation.arrive(entry);
  simulation.advance(Infinity);
  return entries.map(({ outcome }) => outcome);
}

interface Cap {
  name: string;
  max: number;
}

interface Entry {
  task: PastTask;
  /** The lane of its agent, when that has a limit. */
  lane: Cap | null;
  caps: Cap[];
  /** Tasks of one group have the same caps. */
  group: string;
  outcome: CapsOutcome;
}

function entryOf(task: PastTask, { running, runningByClass, runningLow, runningByAgent }: Caps): Entry {
  const { source, agent, isLow } = task;
  const caps: Cap[] = [];
  if (running !== null) caps.push({ name: 'running', max: running });
  if (runningByClass[source] !== undefined) caps.push({ name: `runningByClass.${source}`, max: runningByClass[source] });
  if (runningLow !== null && isLow) caps.push({ name: 'runningLow', max: runningLow });
  const max = Object.hasOwn(runningByAgent, agent) ? runningByAgent[agent] : undefined;
  const lane = max === undefined ? null : { name: `runningByAgent.${agent}`, max };
  return { task, lane, caps, group: `${source} ${isLow}`, outcome: { waitedMs: 0, limits: [], isRefused: false } };
}

/**
 * CapSimulation is responsible for granting tasks as the ledger does: a task takes the lane of its agent in order of arrival, then a grant;
 * of all that wait for a grant and have room, the one of the highest priority goes first, then the oldest.
 */
class CapSimulation {
  readonly #maxWaiting: number;
  #waiting = 0;
  /** Grants and held lanes, by name of the limit. */
  readonly #used = new Map<string, number>();
  /** What waits for the lane of an agent, the first first. */
  readonly #lines = new Map<string, Entry[]>();
  /** What waits for a grant, the best first. */
  readonly #backlogs = new Map<string, Entry[]>();
  /** What runs, the last to end first. */
  readonly #runs: { entry: Entry; endsAt: number }[] = [];

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Calls have to come in order of `readyAt`. */
  arrive(entry: Entry): void {
    this.advance(entry.task.readyAt);
    const lane = this.#fullLane(entry);
    const full = lane ?? this.#fullCap(entry);
    if (full !== null && this.#waiting >= this.#maxWaiting) {
      Object.assign(entry.outcome, { limits: ['waiting'], isRefused: true });
      return;
    }
    this.#waiting += 1;
    if (lane === null) {
      this.#takeLane(entry);
    } else {
      entry.outcome.limits.push(lane);
      listOf(this.#lines, lane).push(entry);
    }
    this.#grantAll(entry.task.readyAt);
  }

  /** Ends what ends until then. What ends in one millisecond makes room at once, whatever its order. */
  advance(until: number): void {
    for (let next = this.#runs.at(-1); next && next.endsAt <= until; next = this.#runs.at(-1)) {
      const { endsAt } = next;
      const ended = this.#takeEnded(endsAt);
      for (const { lane, caps } of ended) for (const { name } of lane ? [...caps, lane] : caps) this.#use(name, -1);
      for (const { lane } of ended) {
        const waiter = lane && this.#lines.get(lane.name)?.shift();
        if (waiter) this.#takeLane(waiter);
      }
      this.#grantAll(endsAt);
    }
  }

  #takeEnded(endsAt: number): Entry[] {
    const ended: Entry[] = [];
    for (let run = this.#runs.at(-1); run?.endsAt === endsAt; run = this.#runs.at(-1)) {
      ended.push(run.entry);
      this.#runs.pop();
    }
    return ended;
  }

  #takeLane(entry: Entry): void {
    if (entry.lane) this.#use(entry.lane.name, 1);
    const full = this.#fullCap(entry);
    if (full !== null) entry.outcome.limits.push(full);
    insert(listOf(this.#backlogs, entry.group), entry, goesBefore);
  }

  #grantAll(now: number): void {
    for (let entry = this.#takeBest(); entry; entry = this.#takeBest()) {
      this.#waiting -= 1;
      entry.outcome.waitedMs = now - entry.task.readyAt;
      for (const { name } of entry.caps) this.#use(name, 1);
      insert(this.#runs, { entry, endsAt: now + entry.task.ranMs }, (a, b) => a.endsAt > b.endsAt);
    }
  }

  /** Takes the best out of the backlogs that has room. */
  #takeBest(): Entry | undefined {
    let best: Entry | undefined;
    for (const [head] of this.#backlogs.values()) {
      if (head && this.#fullCap(head) === null && (!best || goesBefore(head, best))) best = head;
    }
    return best && this.#backlogs.get(best.group)?.shift();
  }

  /** A lane with a line is full for all who come later. */
  #fullLane({ lane }: Entry): string | null {
    if (!lane) return null;
    return this.#isFull(lane) || listOf(this.#lines, lane.name).length > 0 ? lane.name : null;
  }

  #fullCap({ caps }: Entry): string | null {
    return caps.find((cap) => this.#isFull(cap))?.name ?? null;
  }

  #isFull({ name, max }: Cap): boolean {
    return (this.#used.get(name) ?? 0) >= max;
  }

  #use(name: string, more: number): void {
    this.#used.set(name, (this.#used.get(name) ?? 0) + more);
  }
}

/** Whether the first is granted before the second when both have room. */
function goesBefore(a: Entry, b: Entry): boolean {
  return a.task.priority === b.task.priority ? compareIds(a, b) < 0 : a.task.priority > b.task.priority;
}

function compareIds({ task: a }: Entry, { task: b }: Entry): number {
  return a.id < b.id ? -1 : 1;
}

function listOf(lists: Map<string, Entry[]>, name: string): Entry[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

/** Inserts into a list in order, behind what is equal. */
function insert<Item>(list: Item[], item: Item, isBefore: (a: Item, b: Item) => boolean): void {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const other = list[middle];
    if (other !== undefined && isBefore(item, other)) high = middle;
    else low = middle + 1;
  }
  list.splice(low, 0, item);
}
