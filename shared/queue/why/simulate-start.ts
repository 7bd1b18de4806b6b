import type { TaskQueue } from '../../config/index.ts';
import { type FleetCap, FleetOrder, NO_LIMITS, type OrderedTask, SortedLine } from '../../ledger/index.ts';
import { RunningSlots } from '../slots/running-slots.ts';
import { bandOf, type SlotPolicy } from '../slots/slot-policy.ts';

/** Tasks of a queue and priority that stand at `slot` or run. */
interface Part {
  queue: TaskQueue;
  priority: number;
}

/** What is known of a fleet while a task waits in it. Times are in ms. */
export interface StartScene {
  /** The workers that serve the task's queue, as one. */
  policy: SlotPolicy;
  cap: FleetCap;
  /** What runs there, and how long each still does; `holdsPlace`: it has a place in the task's lane or under its cap. */
  running: readonly (Part & { restMs: number; holdsPlace?: boolean })[];
  /** What stands at `slot`: at the task's own priority in its queue what is before it, else all. */
  front: readonly (Part & { count: number; costMs: number })[];
  /** The lane or cap that the task waits for: how many run at once, and how long each of those before it will. */
  line: { places: number; costsMs: readonly number[]; count: number } | null;
  own: Part & { acceptedAt: number; awaitedBy?: string | undefined; costMs: number };
  now: number;
}

/** Of the tasks that start before it, how many are followed; of more each stands for several. */
const MAX_FOLLOWED = 400;
/** In another queue or band, for each task of the own one that many may start before. */
const MAX_BESIDE = 10;

const OWN = 'own';
/** Comes before `own` where both have had as much, as all have whose turns cost nothing. */
const FRONT = 'front';

/** When a task starts, and what does before. */
export interface SimulatedStart {
  /** In so many ms; null where it never would. */
  startMs: number | null;
  /** About how many tasks start before it, by queue; of those before it in a lane, all. */
  before: ReadonlyMap<TaskQueue, number>;
}

/** Follows a scene until the task starts, as the specification of the order starts tasks while what runs ends. */
export function simulateStart(scene: StartScene): SimulatedStart {
  return new StartSimulation(scene).run();
}

class StartSimulation {
  readonly #scene: StartScene;
  readonly #order = new FleetOrder();
  readonly #slots: RunningSlots;
  readonly #costs = new Map<string, number>();
  /** How many tasks each of those that are followed stands for. */
  readonly #counts = new Map<string, number>();
  readonly #before = new Map<TaskQueue, number>();
  readonly #ends = new SortedLine<{ id: string; endsAt: number; release: () => void }>((one, other) => one.endsAt < other.endsAt);
  #made = 0;

  constructor(scene: StartScene) {
    this.#scene = scene;
    this.#slots = new RunningSlots(scene.policy);
    this.#order.cap = scene.cap;
    const { line, running } = scene;
    if (line) this.#order.limit(OWN, { limits: { ...NO_LIMITS, running: Math.max(1, line.places) }, weight: 1 });
    for (const { restMs, holdsPlace, ...part } of running) this.#goOn(part, { restMs, tenant: line && holdsPlace ? OWN : FRONT });
    this.#fillLines();
  }

  run(): SimulatedStart {
    const { now, policy } = this.#scene;
    let time = now;
    let free = policy.slots;
    for (;;) {
      const started = this.#order.claim(this.#slots.pool(0, ''), free, time);
      for (const task of started) {
        if (task.id === OWN) return { startMs: time - now, before: this.#before };
        this.#before.set(task.queue, (this.#before.get(task.queue) ?? 0) + (this.#counts.get(task.id) ?? 1));
        this.#start(task, time + (this.#costs.get(task.id) ?? 0));
      }
      const next = this.#ends.first;
      if (!next) return { startMs: null, before: this.#before };
      time = next.endsAt;
      free = this.#endUntil(time);
    }
  }

  /** The tasks that are before it, each for so many of those that it is made of. */
  #fillLines(): void {
    const { line, own, now } = this.#scene;
    const parts = boundedFront(this.#scene);
    const inLine = line?.count ?? 0;
    const each = Math.max(1, Math.ceil((sumOf(parts) + inLine) / MAX_FOLLOWED));
    for (const part of parts)
      for (let left = part.count; left > 0; left -= each) this.#stand(part, FRONT, part.costMs, Math.min(each, left));
    for (let left = inLine, at = 0; left > 0; left -= each, at += 1) this.#stand(own, OWN, this.#costInLine(at), Math.min(each, left));
    this.#order.accept({ ...this.#task(own, OWN), id: OWN, from: now + this.#made, awaitedBy: own.awaitedBy });
  }

  #costInLine(at: number): number {
    const { line, own } = this.#scene;
    const costsMs = line?.costsMs ?? [];
    return costsMs[at % Math.max(1, costsMs.length)] ?? own.costMs;
  }

  #task({ queue, priority }: Part, tenant: string): OrderedTask {
    this.#made += 1;
    const { own, now } = this.#scene;
    // Those before it have waited as long at least; and all are in the order in which they are made.
    const acceptedAt = queue === own.queue && priority === own.priority ? own.acceptedAt : now;
    const from = now + this.#made;
    const none = { agent: '', costMs: 0, class: 'u1', session: null, lanes: [] };
    return { ...none, id: `${this.#made}`.padStart(9, '0'), tenant, queue, priority, acceptedAt, from };
  }

  #stand(part: Part, tenant: string, costMs: number, count: number): void {
    const task = this.#task(part, tenant);
    this.#costs.set(task.id, costMs * count);
    this.#counts.set(task.id, count);
    this.#order.accept(task);
  }

  #goOn(part: Part, { restMs, tenant }: { restMs: number; tenant: string }): void {
    const task = this.#task(part, tenant);
    this.#order.run(task);
    this.#start(task, this.#scene.now + restMs);
  }

  #start(task: OrderedTask, endsAt: number): void {
    this.#ends.add({ id: task.id, endsAt, release: this.#slots.use(task, this.#scene.now) });
  }

  /** Ends what ends until then, and returns how many slots that frees. */
  #endUntil(time: number): number {
    const ended: string[] = [];
    for (let end = this.#ends.first; end && end.endsAt <= time; end = this.#ends.first) {
      this.#ends.remove(end);
      end.release();
      ended.push(end.id);
    }
    this.#order.settle(ended.map((id) => ({ id, sequel: 'end' as const })));
    return this.#scene.policy.slots;
  }
}

/** Of other queues and bands no more than may start before it. */
function boundedFront({ front, line, own, policy, now }: StartScene): StartScene['front'] {
  const bandOfPart = ({ priority }: Part): string =>
    bandOf({ priority, acceptedAt: priority === own.priority ? own.acceptedAt : now }, policy, now);
  const isAhead = (part: Part): boolean =>
    part.queue === own.queue && part.priority >= own.priority && bandOfPart(part) === bandOfPart(own);
  const ahead = sumOf(front.filter(isAhead)) + (line?.count ?? 0) + 1;
  const beside = MAX_BESIDE * ahead + 2 * policy.slots;
  return front.map((part) => {
    const isBounded = part.queue !== 'critical' && !isAhead(part);
    return isBounded ? { ...part, count: Math.min(part.count, beside) } : part;
  });
}

function sumOf(parts: StartScene['front']): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}
