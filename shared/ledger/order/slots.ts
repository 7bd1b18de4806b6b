import type { TaskQueue } from '../../config/index.ts';
import type { SlotPool } from '../claim/claim-for-slots.ts';
import { isOlder, Level, type Standing } from './level.ts';

type Band = 'high' | 'normal' | 'low';
const BANDS: readonly Band[] = ['high', 'normal', 'low'];
const MAX_PRIORITY = 10;

/** The limiter of a queue: until when its present span lasts, ms, and how many have started in it. */
interface StartSpan {
  ends: number;
  count: number;
}

/** A task that gets a slot, perhaps one that is kept for people. */
interface Choice {
  task: Standing;
  isForPeople: boolean;
}

/**
 * SlotLine is the order of the slots in plain words: which of the tasks that stand at `slot` a worker's next free slot gets.
 *
 * 1. What is critical, in any slot.
 * 2. In the slots kept for people: the best chat, else the best task that a key waits for which has none there yet.
 * 3. In all others, of the heads of each queue and range of priorities: that of the band furthest below its share of what runs; of the queue
 *    furthest below what it is sure of; of the best priority; by its tenant's turn; by age, which an sla brings forward.
 *
 * Queues that are paused, or whose limiter is used up, start nothing. A worker is given nothing of an agent, or of a version of it, that others
 * have and it does not.
 */
export class SlotLine {
  readonly #levels = new Map<TaskQueue, Level[]>();
  readonly #weights = new Map<string, number>();
  /** What a key waits for. */
  readonly #awaited = new Map<string, Standing>();
  readonly paused = new Set<TaskQueue>();
  readonly spans = new Map<TaskQueue, StartSpan>();

  get tasks(): Standing[] {
    return [...this.#levels.values()].flatMap((levels) => levels.flatMap((level) => level.tasks));
  }

  /** `weight`: that of its tenant in turns. */
  add(task: Standing, weight = 1): void {
    this.#weights.set(task.tenant, weight);
    this.#levelOf(task).add(task);
    if (task.awaitedBy !== undefined) this.#awaited.set(task.id, task);
  }

  remove(task: Pick<Standing, 'id' | 'tenant' | 'queue' | 'priority'>): void {
    this.#levelOf(task).remove(task);
    this.#awaited.delete(task.id);
  }

  /** The tasks that `count` free slots get, one after the other. What they use is noted in `pool`. */
  claim(pool: SlotPool, count: number, now: number): Standing[] {
    const started: Standing[] = [];
    while (started.length < count) {
      const choice = this.#choose(pool, now);
      if (!choice) break;
      this.#take(pool, choice, now);
      started.push(choice.task);
    }
    return started;
  }

  #levelOf({ queue, priority }: Pick<Standing, 'queue' | 'priority'>): Level {
    const levels = this.#levels.get(queue) ?? Array.from({ length: MAX_PRIORITY }, () => new Level());
    this.#levels.set(queue, levels);
    return levels[MAX_PRIORITY - priority] ?? new Level();
  }

  #choose(pool: SlotPool, now: number): Choice | null {
    const open = Object.keys(pool.queues).filter((queue): queue is TaskQueue => this.#isOpen(queue as TaskQueue, pool, now));
    const critical = open.includes('critical') && pool.free > 0 && this.#headOf('critical', [MAX_PRIORITY, 1], pool);
    if (critical) return { task: critical, isForPeople: false };
    if (pool.ordinary <= 0) return null;
    const others = open.filter((queue): queue is TaskQueue => queue !== 'critical');
    const person = pool.people > 0 ? this.#bestPerson(others, pool) : undefined;
    if (person) return { task: person, isForPeople: true };
    const shared = pool.ordinary > pool.people ? this.#bestShared(others, pool, now) : undefined;
    return shared ? { task: shared, isForPeople: false } : null;
  }

  #isOpen(queue: TaskQueue, { limits }: SlotPool, now: number): boolean {
    const span = this.spans.get(queue);
    const limit = limits[queue];
    return !this.paused.has(queue) && !(limit && span && span.ends > now && span.count >= limit.max);
  }

  #bestPerson(open: readonly TaskQueue[], pool: SlotPool): Standing | undefined {
    const chats = open.includes('chat') ? this.#headsOf('chat', pool) : [];
    if (chats.length > 0) return bestOf(chats);
    if (pool.awaited <= 0) return undefined;
    const others = [...this.#awaited.values()].filter(({ queue }) => queue !== 'chat' && open.includes(queue));
    return bestOf(others.filter((task) => isAwaited(task, pool) && mayRun(task, pool)));
  }

  #bestShared(open: readonly TaskQueue[], pool: SlotPool, now: number): Standing | undefined {
    const heads = open.flatMap((queue) => this.#headsOf(queue, pool));
    const bands = new Map(heads.map((task) => [task, bandOf(task, pool, now)]));
    const hasOthers = heads.some((task) => bands.get(task) !== 'low');
    const isLowFull = hasOthers && runningIn(pool, 'low') >= pool.maxLow;
    const may = heads.filter((task) => !isLowFull || bands.get(task) !== 'low');
    const rankOf = (task: Standing): number[] => rank(task, bands.get(task) ?? 'normal', pool);
    const [first, ...rest] = may;
    return rest.reduce((best, each) => (best && comesFirst(each, best, rankOf) ? each : best), first);
  }

  /** The first task of each range of priorities, which are the bands of new tasks. */
  #headsOf(queue: TaskQueue, pool: SlotPool): Standing[] {
    const { highFrom, lowTo } = pool;
    const ranges: [high: number, low: number][] = [
      [MAX_PRIORITY, highFrom],
      [highFrom - 1, lowTo + 1],
      [lowTo, 1],
    ];
    return ranges.flatMap((range) => this.#headOf(queue, range, pool) ?? []);
  }

  #headOf(queue: TaskQueue, [high, low]: [number, number], pool: SlotPool): Standing | undefined {
    const levels = this.#levels.get(queue)?.slice(MAX_PRIORITY - high, MAX_PRIORITY - low + 1) ?? [];
    for (const level of levels) {
      const task = level.isEmpty ? undefined : level.next((each) => mayRun(each, pool));
      if (task) return task;
    }
    return undefined;
  }

  #take(pool: SlotPool, { task, isForPeople }: Choice, now: number): void {
    this.#levelOf(task).take(task, this.#weights.get(task.tenant) ?? 1);
    this.#awaited.delete(task.id);
    this.#countStart(task.queue, pool, now);
    pool.free -= 1;
    pool.ordinary = Math.min(pool.free, pool.ordinary - (task.queue === 'critical' ? 0 : 1));
    if (isForPeople) usePlaceForPeople(pool, task);
    pool.people = Math.max(0, Math.min(pool.people, pool.ordinary));
    const use = pool.queues[task.queue];
    if (use) use.running += 1;
    const band = task.queue === 'critical' ? undefined : pool.bands[bandOf(task, pool, now)];
    if (band) band.running += 1;
  }

  /** A span begins with the first start behind the last one. */
  #countStart(queue: TaskQueue, { limits }: SlotPool, now: number): void {
    const limit = limits[queue];
    if (!limit) return;
    const known = this.spans.get(queue);
    const span = known && known.ends > now ? known : { ends: now + limit.duration, count: 0 };
    this.spans.set(queue, { ...span, count: span.count + 1 });
  }
}

function mayRun({ agent, version }: Standing, { foreign }: SlotPool): boolean {
  return !foreign.includes(`,${agent},`) && (version === undefined || !foreign.includes(`,${agent}@${version},`));
}

function isAwaited({ awaitedBy }: Standing, { keys }: SlotPool): boolean {
  return awaitedBy !== undefined && !(awaitedBy in keys);
}

function usePlaceForPeople(pool: SlotPool, { queue, awaitedBy }: Standing): void {
  pool.people -= 1;
  if (queue === 'chat' || awaitedBy === undefined) return;
  pool.awaited -= 1;
  pool.keys[awaitedBy] = true;
}

/** A low task that has waited for long counts as a normal one. */
function bandOf({ priority, acceptedAt }: Standing, { highFrom, lowTo, lowAgeMs }: SlotPool, now: number): Band {
  if (priority >= highFrom) return 'high';
  return priority > lowTo || now - acceptedAt >= lowAgeMs ? 'normal' : 'low';
}

function runningIn({ bands }: SlotPool, band: Band): number {
  return bands[band]?.running ?? 0;
}

/** What is lower starts first; of equals the older one. */
function rank({ queue, priority }: Standing, band: Band, pool: SlotPool): number[] {
  const use = pool.queues[queue] ?? { running: 0, weight: 1 };
  return [(runningIn(pool, band) + 1) / (pool.bands[band]?.share ?? 1), BANDS.indexOf(band), use.running / use.weight, -priority];
}

function comesFirst(one: Standing, other: Standing, rankOf: (task: Standing) => number[]): boolean {
  const [first, second] = [rankOf(one), rankOf(other)];
  const at = first.findIndex((figure, index) => figure !== second[index]);
  return at < 0 ? isOlder(one, other) : (first[at] ?? 0) < (second[at] ?? 0);
}

/** By priority, then by age. */
function bestOf(tasks: readonly Standing[]): Standing | undefined {
  const [first, ...rest] = tasks;
  return rest.reduce((best, each) => (best && comesFirst(each, best, ({ priority }) => [-priority]) ? each : best), first);
}
