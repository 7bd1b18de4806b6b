import { SOURCE_CLASSES, type TenantLimits } from '../../config/index.ts';
import { type Gate, type GatedTask, type GateLimits, Gates, laneOfAgent, SortedLine } from '../../ledger/index.ts';
import { CLASS_LETTERS } from '../../tasks/index.ts';
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

/**
 * What caps would have done to tasks that ran as long as these, each from its `readyAt` on. In the order of the tasks. Pure. `reserveAfterMs`:
 * after so long the lane of its agent is kept for a task that waits at a cap.
 */
export function simulateCaps(tasks: readonly PastTask[], caps: Caps, reserveAfterMs = Infinity): CapsOutcome[] {
  const simulation = new CapSimulation(tasks, caps, reserveAfterMs);
  const arrivals = tasks.toSorted((one, other) => one.readyAt - other.readyAt || (one.id < other.id ? -1 : 1));
  for (const task of arrivals) simulation.arrive(task);
  simulation.advance(Infinity);
  return tasks.map(({ id }) => simulation.outcomeOf(id));
}

/** CapSimulation is responsible for having past tasks come and end in the gates of the specification, at their times. */
class CapSimulation {
  readonly #gates: Gates;
  readonly #tasks: ReadonlyMap<string, PastTask>;
  readonly #caps: Caps;
  readonly #reserveAfterMs: number;
  readonly #outcomes = new Map<string, CapsOutcome>();
  /** What runs, the first to end first. */
  readonly #runs = new SortedLine<{ id: string; endsAt: number }>((one, other) => one.endsAt < other.endsAt);
  #waiting = 0;
  #now = 0;

  constructor(tasks: readonly PastTask[], caps: Caps, reserveAfterMs: number) {
    this.#tasks = new Map(tasks.map((task) => [task.id, task]));
    this.#caps = caps;
    this.#reserveAfterMs = reserveAfterMs;
    this.#gates = new Gates(
      limitsOf(caps),
      ({ id }) => this.#start(id),
      ({ id }, gate) => this.#noteWait(id, gate),
    );
  }

  outcomeOf(id: string): CapsOutcome {
    const outcome = this.#outcomes.get(id) ?? { waitedMs: 0, limits: [], isRefused: false };
    this.#outcomes.set(id, outcome);
    return outcome;
  }

  /** Calls have to come in order of `readyAt`. */
  arrive(past: PastTask): void {
    this.advance(past.readyAt);
    this.#setTime(past.readyAt);
    const task = gatedTask(past, this.#caps);
    if (this.#waiting >= (this.#caps.waiting ?? Infinity) && this.#gates.gateBefore(task)) {
      Object.assign(this.outcomeOf(past.id), { limits: ['waiting'], isRefused: true });
      return;
    }
    this.#waiting += 1;
    this.#gates.arrive(task);
    this.#gates.step();
  }

  /** Ends what ends until then. What ends in one millisecond makes room at once. */
  advance(until: number): void {
    for (let next = this.#runs.first; next && next.endsAt <= until; next = this.#runs.first) {
      this.#setTime(next.endsAt);
      const ended: string[] = [];
      for (let run = this.#runs.first; run?.endsAt === this.#now; run = this.#runs.first) {
        ended.push(run.id);
        this.#runs.remove(run);
      }
      this.#gates.end(ended);
      this.#gates.step();
    }
  }

  #setTime(now: number): void {
    this.#now = now;
    this.#gates.now = now;
    this.#gates.keepsFrom = now - this.#reserveAfterMs;
  }

  #start(id: string): void {
    const { readyAt = 0, ranMs = 0 } = this.#tasks.get(id) ?? {};
    this.#waiting -= 1;
    this.outcomeOf(id).waitedMs = this.#now - readyAt;
    this.#runs.add({ id, endsAt: this.#now + ranMs });
  }

  #noteWait(id: string, gate: Gate): void {
    const { limits } = this.outcomeOf(id);
    const { source = 'user', agent = '' } = this.#tasks.get(id) ?? {};
    const ofCap = { running: 'running', class: `runningByClass.${source}`, low: 'runningLow' };
    const name = gate.kind === 'lane' ? `runningByAgent.${agent}` : ofCap[gate.name];
    if (!limits.includes(name)) limits.push(name);
  }
}

function limitsOf({ running, runningByClass, runningLow, runningByAgent }: Caps): GateLimits {
  const byLetter = SOURCE_CLASSES.flatMap((name) => {
    const cap = runningByClass[name];
    return cap === undefined ? [] : [[CLASS_LETTERS[name], cap] as const];
  });
  const lanes = Object.entries(runningByAgent).map(([agent, max]) => [laneOfAgent(agent), max] as const);
  return { running, low: runningLow, byLetter: Object.fromEntries(byLetter), lanes: Object.fromEntries(lanes) };
}

function gatedTask({ id, acceptedAt, source, agent, priority, isLow }: PastTask, { runningByAgent }: Caps): GatedTask {
  return {
    id,
    createdAt: acceptedAt,
    from: acceptedAt,
    isCritical: false,
    priority,
    class: `${CLASS_LETTERS[source]}${isLow ? 0 : 1}`,
    session: null,
    lanes: Object.hasOwn(runningByAgent, agent) ? [laneOfAgent(agent)] : [],
  };
}
