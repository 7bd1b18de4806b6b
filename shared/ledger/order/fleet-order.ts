import type { SlotPool } from '../claim/claim-for-slots.ts';
import type { FleetCap } from '../claim/fleet-cap.ts';
import { comesFirst, type GatedTask, type GateLimits, NO_LIMITS, type Place } from './gated-task.ts';
import { Gates } from './gates.ts';
import type { Standing } from './level.ts';
import { SlotLine } from './slots.ts';

/** A task, as far as the order of work is concerned. */
export type OrderedTask = Standing & Pick<GatedTask, 'class' | 'session' | 'lanes'>;

/** How a running task goes on: not any more, at once, later, or once what holds it is released. */
export type Sequel = 'end' | 'again' | 'later' | { hold: string };

/** What a tenant may have. */
interface TenantBounds {
  limits: GateLimits;
  weight: number;
}

/**
 * FleetOrder is the specification of the order of work in one shard: which tasks wait, at what, and which of them starts next. Everything is a
 * list in memory, and nothing in it knows how the ledger finds the same with scripts. A test plays random steps on both; the preview of limits
 * and the estimates of starts run on it. Each call is one step of the ledger.
 */
export class FleetOrder {
  readonly slots = new SlotLine();
  readonly #tasks = new Map<string, OrderedTask>();
  readonly #gates = new Map<string, Gates>();
  readonly #weights = new Map<string, number>();
  /** What is held, by tenant and name, in the order of release. */
  readonly #holds = new Map<string, Set<string>>();
  readonly #running = new Set<string>();
  /** Attempts of the shard at once, and how many of these only critical ones may be. */
  cap: FleetCap = { max: Infinity, reserved: 0 };

  /** Of a tenant, what its tasks wait for before they stand at `slot`. */
  gatesOf(tenant: string): Gates {
    const known = this.#gates.get(tenant);
    if (known) return known;
    const gates = new Gates(NO_LIMITS, (task) => this.#standAtSlot(task.id));
    this.#gates.set(tenant, gates);
    return gates;
  }

  get tasks(): readonly OrderedTask[] {
    return [...this.#tasks.values()];
  }

  get running(): readonly OrderedTask[] {
    return this.#all(this.#running);
  }

  placeOf({ id, tenant }: Pick<OrderedTask, 'id' | 'tenant'>): Place {
    return this.gatesOf(tenant).of(id)?.at ?? { kind: 'away' };
  }

  limit(tenant: string, { limits, weight }: TenantBounds): void {
    this.#weights.set(tenant, weight);
    const gates = this.gatesOf(tenant);
    gates.limits = limits;
    gates.step();
  }

  accept(task: OrderedTask): void {
    this.#tasks.set(task.id, task);
    this.#arrive(task);
    this.gatesOf(task.tenant).step();
  }

  /** A task runs already. */
  run(task: OrderedTask): void {
    this.#tasks.set(task.id, task);
    this.#running.add(task.id);
    this.gatesOf(task.tenant).put(gatedTask(task), { kind: 'granted' });
  }

  /** It is due only later. */
  acceptForLater(task: OrderedTask): void {
    this.#tasks.set(task.id, task);
    this.gatesOf(task.tenant).put(gatedTask(task), { kind: 'away' });
  }

  /** Its time has come. */
  resume(id: string): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#unhold(id);
    this.#arrive(task);
    this.gatesOf(task.tenant).step();
  }

  /** Attempts end in one call: all leave what they do not keep, then others go on. */
  settle(ends: readonly { id: string; sequel: Sequel }[]): void {
    for (const { id } of ends) this.#running.delete(id);
    for (const { id, sequel } of ends) {
      const task = this.#tasks.get(id);
      if (task && sequel === 'again') this.slots.add(task, this.#weights.get(task.tenant));
      else if (task && sequel !== 'end') this.#park(task, sequel);
    }
    this.#end(ends.flatMap(({ id, sequel }) => (sequel === 'end' ? (this.#tasks.get(id) ?? []) : [])));
    for (const gates of this.#gates.values()) gates.step();
  }

  /** A task that does not run ends. */
  cancel(id: string): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#leaveSlot(task);
    this.#unhold(id);
    this.#end([task]);
    this.gatesOf(task.tenant).step();
  }

  /** A task that stands at `slot` is held. */
  hold(id: string, hold: string): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#leaveSlot(task);
    this.#park(task, { hold });
    this.gatesOf(task.tenant).step();
  }

  /** Releases the first `max` of what a tenant's hold has, by priority and age, in one call. Returns them. */
  release(tenant: string, hold: string, max: number): string[] {
    const gates = this.gatesOf(tenant);
    const held = [...(this.#holds.get(`${tenant} ${hold}`) ?? [])].flatMap((id) => gates.of(id) ?? []);
    const released = held.toSorted((one, other) => (comesFirst(one, other) ? -1 : 1)).slice(0, max);
    for (const { id, task } of released) {
      this.#unhold(id);
      gates.arrive(task);
    }
    gates.step();
    return released.map(({ id }) => id);
  }

  /** A task that does not run gets another priority, and with that perhaps another queue and class. */
  reprioritize(id: string, change: Pick<OrderedTask, 'priority' | 'queue' | 'class'>): void {
    const task = this.#tasks.get(id);
    if (!task || this.#running.has(id)) return;
    const gates = this.gatesOf(task.tenant);
    const wasGranted = gates.of(id)?.at.kind === 'granted';
    this.#leaveSlot(task);
    this.#tasks.set(id, { ...task, ...change });
    gates.change(id, { priority: change.priority, class: change.class, isCritical: change.queue === 'critical' });
    if (wasGranted && gates.of(id)?.at.kind === 'granted') this.#standAtSlot(id);
    gates.step();
  }

  /** The tasks that `count` free slots of a worker get, one after the other; see `SlotLine`. */
  claim(pool: SlotPool, count: number, now: number): OrderedTask[] {
    this.#applyCap(pool);
    const started = this.slots.claim(pool, count, now).map(({ id }) => id);
    for (const id of started) this.#running.add(id);
    return this.#all(started);
  }

  #all(ids: Iterable<string>): OrderedTask[] {
    return [...ids].flatMap((id) => this.#tasks.get(id) ?? []);
  }

  #arrive(task: OrderedTask): void {
    this.gatesOf(task.tenant).arrive(gatedTask(task));
  }

  #end(tasks: readonly OrderedTask[]): void {
    for (const { id } of tasks) this.#tasks.delete(id);
    for (const [tenant, own] of Map.groupBy(tasks, (task) => task.tenant)) this.gatesOf(tenant).end(own.map(({ id }) => id));
  }

  #park({ id, tenant }: OrderedTask, sequel: Sequel): void {
    this.gatesOf(tenant).park(id);
    if (typeof sequel === 'string') return;
    const name = `${tenant} ${sequel.hold}`;
    const held = this.#holds.get(name) ?? new Set();
    this.#holds.set(name, held.add(id));
  }

  #unhold(id: string): void {
    for (const held of this.#holds.values()) held.delete(id);
  }

  #standAtSlot(id: string): void {
    const task = this.#tasks.get(id);
    if (task) this.slots.add(task, this.#weights.get(task.tenant));
  }

  #leaveSlot(task: OrderedTask): void {
    if (!this.#running.has(task.id)) this.slots.remove(task);
  }

  /** Slots of the call that the fleet's cap leaves it. Where that is fewer than the worker has, one at least is for others than people. */
  #applyCap(pool: SlotPool): void {
    const { max, reserved } = this.cap;
    const critical = this.running.filter(({ queue }) => queue === 'critical').length;
    pool.free = Math.max(0, Math.min(pool.free, max - this.#running.size));
    const room = Math.min(pool.free, max - reserved - (this.#running.size - critical));
    if (room < pool.ordinary) pool.people = Math.max(0, Math.min(pool.people, room - 1));
    pool.ordinary = Math.max(0, Math.min(pool.ordinary, room));
    pool.people = Math.min(pool.people, pool.ordinary);
  }
}

function gatedTask({ id, acceptedAt, from, priority, queue, class: own, session, lanes }: OrderedTask): GatedTask {
  return { id, createdAt: acceptedAt, from, priority, class: own, session, lanes, isCritical: queue === 'critical' };
}
