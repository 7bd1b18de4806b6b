import type { TaskQueue } from '../../config/index.ts';
import { type FleetCap, FleetOrder, NO_LIMITS, type OrderedTask, SortedLine } from '../../ledger/index.ts';
import { RunningSlots } from '../slots/running-slots.ts';
import type { SlotPolicy } from '../slots/slot-policy.ts';

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
  /** What stands at `slot`: in the task's own queue what is before it, in others all. */
  front: readonly (Part & { count: number; costMs: number })[];
  /** The lane or cap that the task waits for: how many run at once, and how long each of those before it will. */
  line: { places: number; costsMs: readonly number[]; count: number } | null;
  own: Part & { acceptedAt: number; awaitedBy?: string | undefined; costMs: number };
  now: number;
}

/** Of the tasks that start before it, how many are followed; of more each stands for several. */
const MAX_FOLLOWED = 400;
/** In another queue, for each task of the own one that many may start before. */
const MAX_BESIDE = 10;

const OWN = 'own';
/** Comes before `own` where both have had as much, as all have whose turns cost nothing. */
const FRONT = 'front';

/** Milliseconds until a task starts, as the specification of the order starts tasks while what runs ends; null where it never would. */
export function timeToStart(scene: StartScene): number | null {
  return new StartSimulation(scene).run();
}

class StartSimulation {
  readonly #scene: StartScene;
  readonly #order = new FleetOrder();
  readonly #slots: RunningSlots;
  readonly #costs = new Map<string, number>();
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

  run(): number | null {
    const { now, policy } = this.#scene;
    let time = now;
    let free = policy.slots;
    for (;;) {
      const started = this.#order.claim(this.#slots.pool(0, ''), free, time);
      if (started.some(({ id }) => id === OWN)) return time - now;
      for (const task of started) this.#start(task, time + (this.#costs.get(task.id) ?? 0));
      const next = this.#ends.first;
      if (!next) return null;
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
      for (let left = part.count; left > 0; left -= each) this.#stand(part, FRONT, part.costMs * Math.min(each, left));
    for (let left = inLine, at = 0; left > 0; left -= each, at += 1) this.#stand(own, OWN, this.#costInLine(at) * Math.min(each, left));
    this.#order.accept({ ...this.#task(own, OWN), id: OWN, acceptedAt: own.acceptedAt, from: now + this.#made, awaitedBy: own.awaitedBy });
  }

  #costInLine(at: number): number {
    const { line, own } = this.#scene;
    const costsMs = line?.costsMs ?? [];
    return costsMs[at % Math.max(1, costsMs.length)] ?? own.costMs;
  }

  #task({ queue, priority }: Part, tenant: string): OrderedTask {
    this.#made += 1;
    // In the order in which they are made.
    const [acceptedAt, from] = [this.#scene.now, this.#scene.now + this.#made];
    const none = { agent: '', costMs: 0, class: 'u1', session: null, lanes: [] };
    return { ...none, id: `${this.#made}`.padStart(9, '0'), tenant, queue, priority, acceptedAt, from };
  }

  #stand(part: Part, tenant: string, costMs: number): void {
    const task = this.#task(part, tenant);
    this.#costs.set(task.id, costMs);
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

/** Of other queues no more than may start before it. */
function boundedFront({ front, line, own, policy }: StartScene): StartScene['front'] {
  const inQueue = sumOf(front.filter(({ queue }) => queue === own.queue)) + (line?.count ?? 0) + 1;
  const beside = MAX_BESIDE * inQueue + 2 * policy.slots;
  return front.map(({ queue, priority, count, costMs }) => {
    const isBounded = queue !== own.queue && queue !== 'critical';
    return { queue, priority, count: isBounded ? Math.min(count, beside) : count, costMs };
  });
}

function sumOf(parts: StartScene['front']): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}
