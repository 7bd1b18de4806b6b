/** A task as its gates see it. Lanes are those that it shares, from narrow to wide; the caps come last. */
export interface GatedTask {
  id: string;
  createdAt: number;
  isCritical: boolean;
  priority: number;
  /** A letter, and 0 for low or 1. */
  class: string;
  lanes: readonly string[];
  /** Where it stands: it is granted, in the line of a lane or of the caps, or in none of them. */
  at: { kind: 'granted' } | { kind: 'lane'; name: string } | { kind: 'cap' } | { kind: 'away' };
  /** Since others may pass it in a lane. */
  passedAt: number | null;
}

/** What limits hold; a class or lane without one has no bound. */
export interface GateLimits {
  lanes: Readonly<Record<string, number>>;
  running: number | null;
  low: number | null;
  byLetter: Readonly<Record<string, number>>;
}

type Gate = { kind: 'lane'; name: string } | { kind: 'cap' };

/**
 * The specification of what a task waits for behind its own lane, as plain lists: what each step has to grant, and where all others stand.
 * Nothing in it knows how the ledger finds that out.
 */
export class GatesModel {
  readonly tasks = new Map<string, GatedTask>();
  limits: GateLimits;
  /** Lanes are kept for tasks that others may pass since then. */
  keepsFrom = 0;
  /** What `passedAt` is now. */
  now = 1;
  /** Lanes that this step opened, each with those of its line that it left where they are. */
  readonly #opened = new Map<string, Set<string>>();

  constructor(limits: GateLimits) {
    this.limits = limits;
  }

  get granted(): string[] {
    return this.#all(({ at }) => at.kind === 'granted').map(({ id }) => id);
  }

  /** A task comes, and takes all that it needs or stands at the first gate that it meets closed. */
  arrive(task: GatedTask): void {
    this.tasks.set(task.id, task);
    const gate = this.#closedFor(task) ?? this.#lineBefore(task);
    if (gate) this.#stand(task, gate);
    else this.#grant(task);
  }

  /** It leaves all that it holds, and any line. */
  leave(id: string): void {
    const task = this.tasks.get(id);
    if (!task) return;
    this.#open(task.lanes);
    this.#drop(task, { kind: 'away' });
  }

  /** Its priority changes. What is granted keeps that where its new class has room, else it gives up all that it holds. */
  change(id: string, change: Pick<GatedTask, 'priority' | 'isCritical' | 'class'>): void {
    const task = this.tasks.get(id);
    if (!task) return;
    const was = task.at;
    this.#open(task.lanes);
    if (was.kind === 'granted') task.at = { kind: 'away' };
    Object.assign(task, change);
    if (was.kind !== 'granted') return;
    if (this.#capsHaveRoom(task.class)) task.at = was;
    else this.#stand(task, { kind: 'cap' });
  }

  /** Makes it long ago that others could pass those that wait. Returns them, the first to be passed first. */
  ageAll(): GatedTask[] {
    const passed = this.#all((task) => isWaiting(task) && task.passedAt !== null).toSorted((one, other) =>
      isPassedLonger(one, other) ? -1 : 1,
    );
    for (const [at, task] of passed.entries()) task.passedAt = at + 1;
    this.keepsFrom = passed.length;
    this.now = Math.max(this.now, passed.length + 1);
    this.openAll();
    return passed;
  }

  /** The limits changed. */
  openAll(): void {
    this.#open([...this.tasks.values()].flatMap(({ lanes }) => lanes));
  }

  /** Takes on the best head over the lines of opened lanes and of classes that the caps have room for, again and again. */
  step(): void {
    const moved = new Map<string, number>();
    for (;;) {
      const [best] = this.#heads().toSorted((one, other) => (comesFirst(one, other) ? -1 : 1));
      if (!best) break;
      this.#takeOn(best, moved);
    }
    this.#opened.clear();
  }

  /** Tasks that wait although none of their gates is closed. */
  idle(): string[] {
    return this.#all(isWaiting)
      .filter((task) => this.#closedFor(task) === null)
      .map(({ id }) => id);
  }

  #all(which: (task: GatedTask) => boolean): GatedTask[] {
    return [...this.tasks.values()].filter((task) => which(task));
  }

  #open(lanes: Iterable<string>): void {
    for (const lane of lanes) if (this.#opened.get(lane)?.size !== 0) this.#opened.set(lane, new Set());
  }

  #grant(task: GatedTask): void {
    this.#drop(task, { kind: 'granted' });
  }

  /** Takes a task out of all lines. What is kept may change by that. */
  #drop(task: GatedTask, at: GatedTask['at']): void {
    if (task.passedAt !== null) this.#open(this.#kept().keys());
    Object.assign(task, { at, passedAt: null });
  }

  #stand(task: GatedTask, gate: Gate): void {
    task.at = gate;
    const isPassed = task.lanes.some((name) => !(gate.kind === 'lane' && gate.name === name) && this.#hasRoom(name, task));
    if (isPassed) task.passedAt ??= this.now;
  }

  /** To its grant, or to the line of another gate, or it stays. `moved`: how many of a class went on from a lane to the caps. */
  #takeOn(task: GatedTask, moved: Map<string, number>): void {
    const own = task.at.kind === 'lane' ? task.at.name : null;
    if (own !== null && !this.#hasRoom(own, task)) return this.#passOver(task, own);
    const gate = this.#closedFor(task);
    if (gate === null) return this.#grant(task);
    if (gate.kind === 'cap' && own !== null) {
      // No more of a class go on to the caps than the lane has room for: the others would only come back.
      const name = `${own} ${task.class}`;
      const count = moved.get(name) ?? 0;
      if (count >= this.#roomOf(own)) return this.#passOver(task, own);
      moved.set(name, count + 1);
    }
    this.#stand(task, gate);
    this.#open(task.lanes.filter((each) => gate.kind === 'cap' || each !== gate.name));
  }

  #passOver(task: GatedTask, own: string): void {
    this.#opened.get(own)?.add(task.id);
    if (this.#roomOf(own) <= 0) this.#opened.delete(own);
  }

  /** The first of each line: those of lanes go by age behind the critical ones, those of classes by priority too. */
  #heads(): GatedTask[] {
    const ofLanes = [...this.#opened].flatMap(([name, left]) => {
      const line = this.#all(({ id, at }) => at.kind === 'lane' && at.name === name && !left.has(id));
      return line.toSorted((one, other) => (isOlder(one, other) ? -1 : 1)).slice(0, 1);
    });
    const atCaps = this.#all(({ at, class: own }) => at.kind === 'cap' && this.#capsHaveRoom(own));
    return [...ofLanes, ...atCaps.toSorted((one, other) => (comesFirst(one, other) ? -1 : 1)).slice(0, 1)];
  }

  #roomOf(lane: string): number {
    return (this.limits.lanes[lane] ?? Infinity) - this.#all(({ at, lanes }) => at.kind === 'granted' && lanes.includes(lane)).length;
  }

  /** Lanes that are kept, each for the critical task, or any, that others have passed for longest. */
  #kept(): Map<string, GatedTask> {
    const kept = new Map<string, GatedTask>();
    const passed = this.#all((task) => isWaiting(task) && task.passedAt !== null && task.passedAt <= this.keepsFrom);
    for (const task of passed.toSorted((one, other) => (isPassedLonger(one, other) ? -1 : 1))) {
      if (task.lanes.every((name) => !kept.has(name))) for (const name of task.lanes) kept.set(name, task);
    }
    return kept;
  }

  #hasRoom(lane: string, task: GatedTask): boolean {
    const keeper = this.#kept().get(lane);
    const isKept = keeper !== undefined && keeper.id !== task.id && !goesBefore(task, keeper);
    return this.#roomOf(lane) - (isKept ? 1 : 0) > 0;
  }

  #capsHaveRoom(taskClass: string): boolean {
    const classes = this.#all(({ at }) => at.kind === 'granted').map((task) => task.class);
    const { running, low, byLetter } = this.limits;
    const letter = taskClass.charAt(0);
    const isLow = taskClass.endsWith('0');
    return (
      (running === null || classes.length < running) &&
      (byLetter[letter] === undefined || classes.filter((each) => each.startsWith(letter)).length < byLetter[letter]) &&
      (!isLow || low === null || classes.filter((each) => each.endsWith('0')).length < low)
    );
  }

  #closedFor(task: GatedTask): Gate | null {
    const name = task.lanes.find((each) => !this.#hasRoom(each, task));
    if (name !== undefined) return { kind: 'lane', name };
    return this.#capsHaveRoom(task.class) ? null : { kind: 'cap' };
  }

  /** A step left those that stand before it for the next one. */
  #lineBefore(task: GatedTask): Gate | null {
    const name = task.lanes.find((each) =>
      this.#all(({ at }) => at.kind === 'lane' && at.name === each).some(
        (other) => isOlder(other, task) && this.#closedFor(other) === null,
      ),
    );
    return name === undefined ? null : { kind: 'lane', name };
  }
}

function isWaiting({ at }: GatedTask): boolean {
  return at.kind === 'lane' || at.kind === 'cap';
}

function isOlder(one: GatedTask, other: GatedTask): boolean {
  if (one.isCritical !== other.isCritical) return one.isCritical;
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt;
}

function comesFirst(one: GatedTask, other: GatedTask): boolean {
  return one.priority === other.priority ? one.id < other.id : one.priority > other.priority;
}

function isPassedLonger(one: GatedTask, other: GatedTask): boolean {
  if (one.isCritical !== other.isCritical) return one.isCritical;
  return one.passedAt === other.passedAt ? one.id < other.id : (one.passedAt ?? 0) < (other.passedAt ?? 0);
}

function goesBefore(task: GatedTask, keeper: GatedTask): boolean {
  if (keeper.isCritical) return false;
  return task.isCritical || (keeper.at.kind === 'cap' && task.priority > keeper.priority);
}
