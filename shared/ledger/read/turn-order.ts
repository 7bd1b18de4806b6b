/** A tenant's ready tickets of one level, and when the next of them has its turn. */
export interface TurnLine {
  tenant: string;
  /** Virtual time of its next ticket: ms of a slot, divided by its weight. */
  start: number;
  ready: number;
  /** Of its next ticket, ms of a slot. */
  costMs: number;
  weight: number;
}

/** What goes before a task. */
export interface Front {
  count: number;
  /** Time of slots that it takes. */
  workMs: number;
}

/** The virtual time between two tickets of a tenant. */
function stepOf({ costMs, weight }: TurnLine): number {
  return Math.max(1, costMs) / weight;
}

/** When a tenant's ticket has its turn, behind so many of its own. */
function turnAt(line: TurnLine, ahead: number): number {
  return line.start + ahead * stepOf(line);
}

/** How many of a tenant's ready tickets have their turn before this time. */
function countBefore(line: TurnLine, time: number): number {
  return Math.min(line.ready, Math.max(0, Math.ceil((time - line.start) / stepOf(line))));
}

/**
 * What goes out of a level before the ticket of a tenant that has `ahead` others before it: as many of each tenant as its weight lets it
 * have until then. A tenant without a line begins where the first one stands.
 */
export function frontOf(lines: readonly TurnLine[], tenant: string, ahead: number): Front {
  const own = lines.find((line) => line.tenant === tenant);
  const time = own ? turnAt(own, ahead) : Math.min(...lines.map(({ start }) => start));
  const front = { count: ahead, workMs: ahead * (own?.costMs ?? 0) };
  for (const line of lines) {
    if (line === own) continue;
    const count = countBefore(line, time);
    front.count += count;
    front.workMs += count * line.costMs;
  }
  return front;
}

/** A place in a level: the ticket of a tenant behind so many of its own. */
export interface TurnPlace {
  tenant: string;
  index: number;
}

/** Halvings of a span of virtual time until it is shorter than a millisecond. */
const HALVINGS = 60;

/** Which tickets stand at the places `from` to `to` (not included) of a level, as its turns are now. */
export function pageOfTurns(lines: readonly TurnLine[], from: number, to: number): TurnPlace[] {
  const [before, after] = [timeOfPlace(lines, from), timeOfPlace(lines, to)];
  const skipped = lines.reduce((sum, line) => sum + countBefore(line, before), 0);
  const near = lines.flatMap((line) => {
    const first = countBefore(line, before);
    // One ticket of each tenant may have its turn at the same time as the last place.
    const count = Math.min(line.ready, countBefore(line, after) + 1) - first;
    return Array.from({ length: count }, (_, at) => ({ tenant: line.tenant, index: first + at, time: turnAt(line, first + at) }));
  });
  near.sort((one, other) => one.time - other.time || (one.tenant < other.tenant ? -1 : 1));
  return near.slice(from - skipped, to - skipped).map(({ tenant, index }) => ({ tenant, index }));
}

/** The last virtual time before which at most so many tickets have their turn. */
function timeOfPlace(lines: readonly TurnLine[], place: number): number {
  let low = Math.min(...lines.map(({ start }) => start));
  let high = Math.max(...lines.map((line) => turnAt(line, line.ready)));
  const countAt = (time: number): number => lines.reduce((sum, line) => sum + countBefore(line, time), 0);
  if (countAt(high) <= place) return high;
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2;
    if (countAt(middle) <= place) low = middle;
    else high = middle;
  }
  return low;
}
