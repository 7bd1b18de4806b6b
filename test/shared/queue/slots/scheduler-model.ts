import type { TaskQueue } from '#shared/config/sources.ts';
import type { SlotPool } from '#shared/ledger/claim/claim-for-slots.ts';

/** A task that stands at `slot`. */
export interface Standing {
  id: string;
  tenant: string;
  queue: TaskQueue;
  priority: number;
  /** When it counts from, and when it was accepted, ms. */
  from: number;
  acceptedAt: number;
  costMs: number;
  agent: string;
  awaitedBy?: string | undefined;
}

type Band = 'high' | 'normal' | 'low';

const BANDS: readonly Band[] = ['high', 'normal', 'low'];

/**
 * The order of the slots in plain words: a list of tasks, what runs, and which of them starts next. It is the specification that the claim of
 * the ledger has to follow.
 */
export class SchedulerModel {
  readonly standing: Standing[] = [];
  readonly paused = new Set<TaskQueue>();
  /** Starts of a limited queue that are left. */
  readonly startsLeft = new Map<TaskQueue, number>();
  /** Virtual times of tenants, by level: only of levels at which more than one has waited. */
  readonly #turns = new Map<string, Map<string, number>>();

  stand(task: Standing): void {
    const level = levelOf(task);
    const others = new Set(this.standing.filter((each) => levelOf(each) === level).map(({ tenant }) => tenant));
    const known = this.#turns.get(level);
    const time = known ? this.#timeOf(level, known) : 0;
    this.standing.push(task);
    if (known === undefined && [...others].every((tenant) => tenant === task.tenant)) return;
    const turns = known ?? new Map([...others].map((tenant) => [tenant, 0]));
    this.#turns.set(level, turns);
    turns.set(task.tenant, Math.max(turns.get(task.tenant) ?? 0, time));
  }

  leave(id: string): void {
    const at = this.standing.findIndex((task) => task.id === id);
    if (at >= 0) this.standing.splice(at, 1);
  }

  /** Which tasks `count` free slots get, one after the other. */
  start(pool: SlotPool, count: number, now: number): Standing[] {
    const started: Standing[] = [];
    while (started.length < count) {
      const next = this.#choose(pool, now);
      if (!next) break;
      this.#take(pool, next.task, next.isForPeople, now);
      started.push(next.task);
    }
    return started;
  }

  #choose(pool: SlotPool, now: number): { task: Standing; isForPeople: boolean } | null {
    const may = this.standing.filter(
      ({ queue, agent }) =>
        queue in pool.queues && !this.paused.has(queue) && this.startsLeft.get(queue) !== 0 && !pool.foreign.includes(`,${agent},`),
    );
    const critical = this.#headOf(may.filter(({ queue }) => queue === 'critical'));
    if (critical && pool.free > 0) return { task: critical, isForPeople: false };
    if (pool.ordinary <= 0) return null;
    if (pool.people > 0) {
      const chats = this.#headsOf(
        may.filter(({ queue }) => queue === 'chat'),
        pool,
      );
      const [chat] = chats.toSorted((one, other) => other.priority - one.priority || byAge(one, other));
      if (chat) return { task: chat, isForPeople: true };
      const awaited = may.filter(
        ({ queue, awaitedBy }) => awaitedBy !== undefined && queue !== 'critical' && queue !== 'chat' && !(awaitedBy in pool.keys),
      );
      const [first] = pool.awaited > 0 ? awaited.toSorted((one, other) => other.priority - one.priority || byAge(one, other)) : [];
      if (first) return { task: first, isForPeople: true };
    }
    if (pool.ordinary <= pool.people) return null;
    const task = this.#best(
      may.filter(({ queue }) => queue !== 'critical'),
      pool,
      now,
    );
    return task && { task, isForPeople: false };
  }

  /** The head of each queue and range of priorities that is furthest below what it may have. */
  #best(tasks: readonly Standing[], pool: SlotPool, now: number): Standing | null {
    const heads = [...Map.groupBy(tasks, ({ queue }) => queue).values()].flatMap((own) => this.#headsOf(own, pool));
    const ranked = heads.map((task) => {
      const band = bandOf(task, pool, now);
      const { running = 0, share = 1 } = pool.bands[band] ?? {};
      const use = pool.queues[task.queue] ?? { running: 0, weight: 1 };
      return { task, band, key: [(running + 1) / share, BANDS.indexOf(band), use.running / use.weight, -task.priority] };
    });
    const hasOthers = ranked.some(({ band }) => band !== 'low');
    const isLowFull = (pool.bands['low']?.running ?? 0) >= pool.maxLow;
    const may = ranked.filter(({ band }) => band !== 'low' || !hasOthers || !isLowFull);
    const [best] = may.toSorted((one, other) => compare(one.key, other.key) || byAge(one.task, other.task));
    return best?.task ?? null;
  }

  #headsOf(own: readonly Standing[], pool: SlotPool): Standing[] {
    const ranges = [
      own.filter(({ priority }) => priority >= pool.highFrom),
      own.filter(({ priority }) => priority < pool.highFrom && priority > pool.lowTo),
      own.filter(({ priority }) => priority <= pool.lowTo),
    ];
    return ranges.flatMap((range) => this.#headOf(range) ?? []);
  }

  /** Of one queue: the best priority, of it the tenant whose turn it is, of its tasks the first. */
  #headOf(own: readonly Standing[]): Standing | null {
    const priority = Math.max(...own.map((task) => task.priority));
    const level = own.filter((task) => task.priority === priority);
    const [first] = level;
    if (!first) return null;
    const turns = this.#turns.get(levelOf(first));
    const startOf = ({ tenant }: Standing): number => turns?.get(tenant) ?? Number.POSITIVE_INFINITY;
    const byTurn = level.toSorted(
      (one, other) =>
        (turns ? startOf(one) - startOf(other) : 0) || (one.tenant < other.tenant ? -1 : one.tenant > other.tenant ? 1 : byAge(one, other)),
    );
    return byTurn[0] ?? null;
  }

  #take(pool: SlotPool, task: Standing, isForPeople: boolean, now: number): void {
    const level = levelOf(task);
    this.leave(task.id);
    const turns = this.#turns.get(level);
    if (this.standing.every((each) => levelOf(each) !== level)) this.#turns.delete(level);
    else if (turns) turns.set(task.tenant, (turns.get(task.tenant) ?? 0) + task.costMs);
    const left = this.startsLeft.get(task.queue);
    if (left !== undefined) this.startsLeft.set(task.queue, left - 1);
    useSlot(pool, task, isForPeople);
    const use = pool.queues[task.queue];
    if (use) use.running += 1;
    const band = task.queue === 'critical' ? undefined : pool.bands[bandOf(task, pool, now)];
    if (band) band.running += 1;
  }

  /** The virtual time of a level: of the first of its tenants that has something there. */
  #timeOf(level: string, turns: ReadonlyMap<string, number>): number {
    const waiting = new Set(this.standing.filter((task) => levelOf(task) === level).map(({ tenant }) => tenant));
    const times = [...turns].flatMap(([tenant, time]) => (waiting.has(tenant) ? [time] : []));
    return times.length === 0 ? 0 : Math.min(...times);
  }
}

function useSlot(pool: SlotPool, task: Standing, isForPeople: boolean): void {
  pool.free -= 1;
  pool.ordinary = Math.min(pool.free, pool.ordinary - (task.queue === 'critical' ? 0 : 1));
  if (isForPeople) pool.people -= 1;
  if (isForPeople && task.queue !== 'chat' && task.awaitedBy !== undefined) {
    pool.awaited -= 1;
    pool.keys[task.awaitedBy] = true;
  }
  pool.people = Math.max(0, Math.min(pool.people, pool.ordinary));
}

function levelOf({ queue, priority }: Standing): string {
  return `${queue}/${priority}`;
}

function bandOf({ priority, acceptedAt }: Standing, { highFrom, lowTo, lowAgeMs }: SlotPool, now: number): Band {
  if (priority >= highFrom) return 'high';
  return priority > lowTo || now - acceptedAt >= lowAgeMs ? 'normal' : 'low';
}

/** As the texts of tickets sort. */
function byAge(one: Standing, other: Standing): number {
  return one.from - other.from || (one.id < other.id ? -1 : 1);
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((figure, index) => figure !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
