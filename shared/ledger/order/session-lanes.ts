import type { Gated } from './gated-task.ts';
import { SortedLine } from './sorted-line.ts';

function isOlder({ id, task }: Gated, other: Gated): boolean {
  return task.createdAt === other.task.createdAt ? id < other.id : task.createdAt < other.task.createdAt;
}

/** SessionLanes is responsible for the tasks' own lanes: lines by age, of which so many go on at once. */
export class SessionLanes {
  readonly #lanes = new Map<string, { holders: Set<string>; line: SortedLine<Gated> }>();

  /** Takes a place in its lane, or stands in its line. Returns whether it has the place. */
  enter(gated: Gated): boolean {
    const { session } = gated.task;
    if (!session) return true;
    const lane = this.#lanes.get(session.name) ?? { holders: new Set(), line: new SortedLine<Gated>(isOlder) };
    this.#lanes.set(session.name, lane);
    if (lane.holders.has(gated.id)) return true;
    const isFree = lane.holders.size < session.limit && lane.line.size === 0;
    if (isFree) lane.holders.add(gated.id);
    else lane.line.add(gated);
    return isFree;
  }

  /** Gives up its place. Returns those of the line that have one now. */
  leave({ id, task: { session } }: Gated): Gated[] {
    const lane = session && this.#lanes.get(session.name);
    if (!session || !lane) return [];
    if (!lane.holders.delete(id)) lane.line.remove({ id });
    const next = lane.line.take(Math.max(0, session.limit - lane.holders.size));
    for (const each of next) lane.holders.add(each.id);
    if (lane.holders.size === 0) this.#lanes.delete(session.name);
    return next;
  }
}
