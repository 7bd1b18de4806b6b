import type { TaskQueue } from '#shared/config/sources.ts';
import { priorityBand, type PriorityBand } from '#shared/tasks/priority.ts';

/** One attempt, by the times of the ledger, which are Redis's; ms since the epoch. */
export interface SlotUse {
  task: string;
  tenant: string;
  queue: TaskQueue;
  priority: number;
  acceptedAt: number;
  startedAt: number;
  endedAt: number;
  /** 1 for the first attempt: its task waited for a slot since it was accepted. */
  attempt: number;
  /** Of a task that waits for those of its lane before it. */
  lane?: string | undefined;
  /** When it got its grant for the first time. */
  grantedAt?: number;
  /** When the task before it in its lane had ended, if that was after it was accepted: until then it waits for no slot. */
  freeFrom?: number | undefined;
}

/** Tasks that a fleet may run at once, and how many of them may be other than critical. */
export interface Capacity {
  total: number;
  ordinary: number;
}

export interface IdleTime {
  /** Milliseconds of slots that were free while a task waited that they could have run. */
  idleMs: number;
  /** Milliseconds of all slots, from the first moment when all were in use to the last start. */
  slotMs: number;
  /** Starts in that time. */
  starts: number;
}

type Kind = 'critical' | 'ordinary';

/** What waits and runs from a moment on. */
interface Moment {
  at: number;
  isStart: boolean;
  waiting: Record<Kind, number>;
  running: Record<Kind, number>;
}

/** How long slots were idle while something waited. A retried task counts as waiting only before its first attempt. */
export function idleTime(uses: readonly SlotUse[], capacity: Capacity): IdleTime {
  const all = momentsOf(uses);
  const from = all.findIndex(({ running }) => running.ordinary >= capacity.ordinary);
  const moments = all.slice(
    from,
    all.findLastIndex(({ isStart }) => isStart),
  );
  const found: IdleTime = { idleMs: 0, slotMs: 0, starts: moments.filter(({ isStart }) => isStart).length };
  for (const [position, moment] of moments.entries()) {
    const forMs = (all[from + position + 1]?.at ?? moment.at) - moment.at;
    found.idleMs += forMs * idleSlots(moment, capacity);
    if (moment.waiting.critical + moment.waiting.ordinary > 0) found.slotMs += forMs * capacity.ordinary;
  }
  return found;
}

/** Free slots that something waits for. */
function idleSlots({ waiting, running }: Moment, { total, ordinary }: Capacity): number {
  const free = Math.max(0, total - running.critical - running.ordinary);
  const forCritical = Math.min(waiting.critical, free);
  const forOrdinary = Math.min(waiting.ordinary, free - forCritical, Math.max(0, ordinary - running.ordinary));
  return forCritical + forOrdinary;
}

/** The same, with the times at which the lanes of its tasks became free for them. */
export function withLanes(uses: readonly SlotUse[]): SlotUse[] {
  const endsOf = Map.groupBy(uses, ({ task }) => task);
  /** By lane, the end of its last task so far. */
  const ends = new Map<string, number>();
  const found = new Map<SlotUse, number>();
  for (const use of uses.toSorted((one, other) => one.startedAt - other.startedAt)) {
    if (use.lane === undefined || use.attempt > 1) continue;
    found.set(use, Math.min(use.startedAt, ends.get(use.lane) ?? use.acceptedAt));
    ends.set(use.lane, Math.max(...(endsOf.get(use.task) ?? []).map(({ endedAt }) => endedAt)));
  }
  return uses.map((use) => Object.assign(structuredClone(use), found.has(use) ? { freeFrom: found.get(use) } : {}));
}

/** Since when it is its slot, and nothing else, that the task waits for. */
function waitsFrom({ acceptedAt, freeFrom = 0 }: SlotUse): number {
  return Math.max(acceptedAt, freeFrom);
}

/** The largest number of tasks that ran at once: in all, and without critical ones. */
export function maxAtOnce(uses: readonly SlotUse[]): Capacity {
  const moments = momentsOf(uses);
  return {
    total: Math.max(...moments.map(({ running }) => running.critical + running.ordinary)),
    ordinary: Math.max(...moments.map(({ running }) => running.ordinary)),
  };
}

/** In one millisecond tasks end before others start. */
const ORDER = { end: 0, accept: 1, start: 2 };

function momentsOf(uses: readonly SlotUse[]): Moment[] {
  const changes = uses.flatMap((use) => {
    const { queue, startedAt, endedAt, attempt } = use;
    const of: Kind = queue === 'critical' ? 'critical' : 'ordinary';
    // A later attempt was not there to be run between its task's attempts.
    const accepted = { at: attempt === 1 ? waitsFrom(use) : startedAt, kind: 'accept', of } as const;
    return [accepted, { at: startedAt, kind: 'start', of } as const, { at: endedAt, kind: 'end', of } as const];
  });
  const waiting = { critical: 0, ordinary: 0 };
  const running = { critical: 0, ordinary: 0 };
  return changes
    .toSorted((one, other) => one.at - other.at || ORDER[one.kind] - ORDER[other.kind])
    .map(({ at, kind, of }) => {
      if (kind === 'accept') waiting[of] += 1;
      if (kind === 'start') waiting[of] -= 1;
      if (kind !== 'accept') running[of] += kind === 'start' ? 1 : -1;
      return { at, isStart: kind === 'start', waiting: { ...waiting }, running: { ...running } };
    });
}

const BANDS: readonly PriorityBand[] = ['critical', 'high', 'normal', 'low'];

/**
 * Tasks that started although a better one, accepted before, started only later; as `<task> before <the better one>`. With one slot in the
 * fleet the band decides, then the priority, then for one tenant the age. With more, bands have shares and queues have weights, so that only
 * tasks of one queue and band are compared, and critical ones with all; and as many as run at once may overtake each other on their way. The
 * first starts do not count: while workers start, each worker fills its slots by itself. Ages differ by more than `travelMs`.
 */
export function passedOver(uses: readonly SlotUse[], atOnce: number, travelMs = 0): string[] {
  const starts = uses.filter(({ attempt }) => attempt === 1).toSorted((one, other) => one.startedAt - other.startedAt);
  return starts.flatMap((each, position) => {
    if (position < atOnce) return [];
    const better = starts
      .slice(position + atOnce)
      .find((later) => later.acceptedAt < each.startedAt && isBetter(later, each, { areAllCompared: atOnce === 1, travelMs }));
    return better ? [`${nameOf(each)} before ${nameOf(better)}`] : [];
  });
}

function isBetter(one: SlotUse, other: SlotUse, { areAllCompared, travelMs }: { areAllCompared: boolean; travelMs: number }): boolean {
  const [band, otherBand] = [one, other].map(({ queue, priority }) => BANDS.indexOf(priorityBand(queue, priority))) as [number, number];
  if (band !== otherBand) return (areAllCompared || band === 0) && band < otherBand;
  if (!areAllCompared && one.queue !== other.queue) return false;
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.queue === other.queue && one.tenant === other.tenant && one.acceptedAt + travelMs < other.acceptedAt;
}

/**
 * Tasks of one tenant that got their grant although a better one waited under the same cap, by priority and then by age; as
 * `<task> before <the better one>`. Ages, and the times from which lanes were free, differ by more than `travelMs`.
 */
export function grantedBefore(uses: readonly SlotUse[], travelMs: number): string[] {
  const grants = uses.filter(({ attempt, grantedAt }) => attempt === 1 && grantedAt !== undefined);
  const at = ({ grantedAt = 0 }: SlotUse): number => grantedAt;
  const comesFirst = (one: SlotUse, other: SlotUse): boolean =>
    one.priority === other.priority ? one.acceptedAt + travelMs < other.acceptedAt : one.priority > other.priority;
  const hasWaited = (one: SlotUse, until: number): boolean =>
    one.acceptedAt < until && (one.freeFrom === undefined || one.freeFrom + travelMs < until);
  return grants.flatMap((each) => {
    const better = grants.find((other) => at(other) > at(each) && hasWaited(other, at(each)) && comesFirst(other, each));
    return better ? [`${nameOf(each)} before ${nameOf(better)}`] : [];
  });
}

function nameOf({ task, queue, priority }: SlotUse): string {
  return `${task} (${queue}, ${priority})`;
}
