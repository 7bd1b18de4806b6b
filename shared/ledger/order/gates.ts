import { comesFirst, type Gate, type Gated, type GatedTask, type GateLimits, isOlderInLane, isWaiting, type Place } from './gated-task.ts';
import { GrantedCounts } from './granted-counts.ts';
import { PassedTasks } from './passed-tasks.ts';
import { SessionLanes } from './session-lanes.ts';
import { SortedLine } from './sorted-line.ts';

/** A lane that a call opened: how many of its line were left where they are, and the last of these. */
interface OpenedLane {
  last: Gated | null;
  left: number;
}

/** Tasks of a line that a call leaves where they are, before it reads no further. */
const MAX_LEFT = 100;

/**
 * Gates is what a tenant's tasks wait for before they stand at `slot`, in plain words.
 *
 * A task takes a place in its session's lane first, and keeps that until it ends. Then it takes all lanes that it shares and a place under the
 * caps in one step, or stands in the line of the first gate that is closed, and holds none of them. Others may pass it in the lanes that have
 * room; once they could for long enough its lanes are kept for it, one task a lane.
 *
 * A call first has all leave that leave, then takes on the best head of all lines that this opened, again and again.
 */
export class Gates {
  readonly #tasks = new Map<string, Gated>();
  readonly #sessions = new SessionLanes();
  readonly #counts = new GrantedCounts(() => this.limits);
  readonly #lines = new Map<string, SortedLine<Gated>>();
  readonly #atCaps = new Map<string, SortedLine<Gated>>();
  readonly #passed = new PassedTasks();
  readonly #opened = new Map<string, OpenedLane>();
  #limits: GateLimits;
  /** What `passedAt` is now. */
  now = 0;
  readonly #onGrant: (task: GatedTask) => void;
  readonly #onWait: (task: GatedTask, gate: Gate) => void;

  /** `onWait`: a task stands at a gate, perhaps behind another one. */
  constructor(limits: GateLimits, onGrant: (task: GatedTask) => void, onWait: (task: GatedTask, gate: Gate) => void = () => undefined) {
    this.#limits = limits;
    this.#onGrant = onGrant;
    this.#onWait = onWait;
  }

  get limits(): GateLimits {
    return this.#limits;
  }

  /** Call `step` then. */
  set limits(limits: GateLimits) {
    this.#limits = limits;
    this.openAll();
  }

  /** Lanes are kept for tasks that others may pass since then. */
  set keepsFrom(time: number) {
    this.#passed.keepsFrom = time;
  }

  get tasks(): readonly Gated[] {
    return [...this.#tasks.values()];
  }

  of(id: string): Gated | undefined {
    return this.#tasks.get(id);
  }

  /** A task comes, or its time has come, or it is released. */
  arrive(task: GatedTask): void {
    const gated = this.#tasks.get(task.id) ?? { id: task.id, task, at: { kind: 'away' }, passedAt: null };
    this.#tasks.set(task.id, gated);
    if (this.#sessions.enter(gated)) this.#enter(gated);
    else gated.at = { kind: 'session' };
  }

  /** The gate that a task without a session would stand at if it came now, or null. */
  gateBefore(task: GatedTask): Gate | null {
    return this.#closedForNew({ id: task.id, task, at: { kind: 'away' }, passedAt: null });
  }

  /** A task stands there already. */
  put(task: GatedTask, at: Place, passedAt: number | null = null): void {
    const gated: Gated = { id: task.id, task, at, passedAt };
    this.#tasks.set(task.id, gated);
    this.#place(gated, at);
  }

  /** Tasks end in one call, and others of their sessions go on. */
  end(ids: readonly string[]): void {
    const ending = ids.flatMap((id) => this.#tasks.get(id) ?? []);
    for (const { id } of ending) this.park(id);
    for (const gated of ending) {
      this.#tasks.delete(gated.id);
      for (const next of this.#sessions.leave(gated)) this.#comeOutOfSession(next);
    }
  }

  /** A task waits for a time or a hold. It keeps its place in its session's lane and nothing else. */
  park(id: string): void {
    const gated = this.#tasks.get(id);
    if (!gated) return;
    this.#open(gated.task.lanes);
    if (gated.at.kind !== 'session') this.#drop(gated, { kind: 'away' });
  }

  /** Its priority changes. What is granted keeps that where its new class has room under the caps, else it gives up all that it holds. */
  change(id: string, change: Pick<GatedTask, 'priority' | 'isCritical' | 'class'>): void {
    const gated = this.#tasks.get(id);
    if (!gated) return;
    const { at } = gated;
    this.#open(gated.task.lanes);
    this.#takeOutOfLine(gated);
    gated.task = { ...gated.task, ...change };
    const full = at.kind === 'granted' ? this.#fullCap(gated) : null;
    if (full) this.#stand(gated, full);
    else this.#place(gated, at);
  }

  openAll(): void {
    this.#open(this.#lines.keys());
  }

  /** The end of a call. */
  step(): void {
    const moved = new Map<string, number>();
    for (let best = this.#bestHead(); best; best = this.#bestHead()) this.#takeOn(best, moved);
    this.#opened.clear();
  }

  /** Tasks that wait although none of their gates is closed: none, behind a step. */
  idle(): string[] {
    return this.tasks.filter((gated) => isWaiting(gated) && this.#closedFor(gated) === null).map(({ id }) => id);
  }

  /** Makes it long ago that others could pass those that wait. Returns them, the first to be passed first. */
  ageAll(): Gated[] {
    const passed = this.#passed.all;
    for (const [at, gated] of passed.entries()) gated.passedAt = at + 1;
    this.keepsFrom = passed.length;
    this.now = Math.max(this.now, passed.length + 1);
    this.openAll();
    return passed;
  }

  get #hasCaps(): boolean {
    const { running, low, byLetter } = this.#limits;
    return running !== null || low !== null || Object.keys(byLetter).length > 0;
  }

  /** Where there are caps, the best of all that wait goes on, so it joins these. */
  #comeOutOfSession(gated: Gated): void {
    if (this.#hasCaps) this.#stand(gated, { kind: 'cap', name: this.#counts.fullCap(gated.task.class) ?? 'running' });
    else this.#enter(gated);
  }

  /** Takes all that it needs, or stands at the first gate that is closed. */
  #enter(gated: Gated): void {
    const gate = this.#closedForNew(gated);
    if (gate) this.#stand(gated, gate);
    else this.#grant(gated);
  }

  #closedForNew(gated: Gated): Gate | null {
    const lane = gated.task.lanes.find((name) => !this.#hasRoom(name, gated) || this.#isBehind(name, gated));
    return lane === undefined ? this.#fullCap(gated) : { kind: 'lane', name: lane };
  }

  /** Whether one that stands before it in the line of a lane goes on in this call. */
  #isBehind(lane: string, gated: Gated): boolean {
    const line = this.#lines.get(lane)?.items ?? [];
    return line.some((other) => isOlderInLane(other, gated) && this.#closedFor(other) === null);
  }

  #open(lanes: Iterable<string>): void {
    for (const lane of lanes) if (this.#opened.get(lane)?.left !== 0) this.#opened.set(lane, { last: null, left: 0 });
  }

  #grant(gated: Gated): void {
    this.#drop(gated, { kind: 'granted' });
    this.#onGrant(gated.task);
  }

  /** Takes a task out of all lines. What is kept may change by that. */
  #drop(gated: Gated, at: Place): void {
    if (gated.passedAt !== null) this.#open(this.#passed.kept.keys());
    this.#takeOutOfLine(gated);
    gated.passedAt = null;
    this.#place(gated, at);
  }

  #takeOutOfLine(gated: Gated): void {
    const { task, at } = gated;
    if (at.kind === 'granted') this.#counts.count(task, -1);
    if (at.kind === 'lane') this.#lines.get(at.name)?.remove(gated);
    if (at.kind === 'cap') this.#atCaps.get(task.class)?.remove(gated);
    this.#passed.remove(gated);
    gated.at = { kind: 'away' };
  }

  #place(gated: Gated, at: Place): void {
    gated.at = at;
    if (gated.passedAt !== null) this.#passed.add(gated);
    if (at.kind === 'granted') this.#counts.count(gated.task, 1);
    if (at.kind === 'lane') lineOf(this.#lines, at.name, isOlderInLane).add(gated);
    if (at.kind === 'cap') lineOf(this.#atCaps, gated.task.class, comesFirst).add(gated);
  }

  #stand(gated: Gated, gate: Gate): void {
    this.#takeOutOfLine(gated);
    this.#place(gated, gate);
    const { task } = gated;
    const isPassed = task.lanes.some((name) => !(gate.kind === 'lane' && gate.name === name) && this.#hasRoom(name, gated));
    if (isPassed && gated.passedAt === null) {
      gated.passedAt = this.now;
      this.#passed.add(gated);
    }
    this.#onWait(task, gate);
  }

  /** To its grant, or to the line of another gate, or it stays. `moved`: how many of a class went on from a lane to the caps. */
  #takeOn(gated: Gated, moved: Map<string, number>): void {
    const own = gated.at.kind === 'lane' ? gated.at.name : null;
    if (own !== null && !this.#hasRoom(own, gated)) return this.#passOver(gated, own);
    const gate = this.#closedFor(gated);
    if (gate === null) return this.#grant(gated);
    if (gate.kind === 'cap' && own !== null) {
      // No more of a class go on to the caps than the lane has room for: the others would only come back.
      const name = `${own} ${gated.task.class}`;
      const count = moved.get(name) ?? 0;
      if (count >= this.#counts.roomInLane(own)) return this.#passOver(gated, own);
      moved.set(name, count + 1);
    }
    this.#stand(gated, gate);
    this.#open(gated.task.lanes.filter((each) => gate.kind === 'cap' || each !== gate.name));
  }

  #passOver(gated: Gated, own: string): void {
    const opened = this.#opened.get(own) ?? { last: null, left: 0 };
    this.#opened.set(own, { last: gated, left: opened.left + 1 });
    if (opened.left >= MAX_LEFT || this.#counts.roomInLane(own) <= 0) this.#opened.delete(own);
  }

  /** The best of the first of each opened line, and of each class that the caps have room for. */
  #bestHead(): Gated | undefined {
    const ofLanes = [...this.#opened].flatMap(([name, { last }]) => this.#lines.get(name)?.firstBehind(last) ?? []);
    const ofClasses = [...this.#atCaps].flatMap(([own, { first }]) => (first && this.#counts.fullCap(own) === null ? first : []));
    const [head, ...others] = [...ofLanes, ...ofClasses];
    return others.reduce((best: Gated | undefined, each) => (best && comesFirst(each, best) ? each : best), head);
  }

  #hasRoom(lane: string, gated: Gated): boolean {
    const room = this.#counts.roomInLane(lane);
    return room > (room > 0 && this.#passed.keptFrom(lane, gated) ? 1 : 0);
  }

  #fullCap({ task }: Gated): Gate | null {
    const name = this.#counts.fullCap(task.class);
    return name === null ? null : { kind: 'cap', name };
  }

  /** The first of its gates that is closed, from narrow to wide. */
  #closedFor(gated: Gated): Gate | null {
    const name = gated.task.lanes.find((each) => !this.#hasRoom(each, gated));
    return name === undefined ? this.#fullCap(gated) : { kind: 'lane', name };
  }
}

function lineOf(lines: Map<string, SortedLine<Gated>>, name: string, isBefore: (one: Gated, other: Gated) => boolean): SortedLine<Gated> {
  const line = lines.get(name) ?? new SortedLine<Gated>(isBefore);
  lines.set(name, line);
  return line;
}
