import type { Failure } from '#shared/client/openapi.gen.ts';

/** The groups of several pages as one list, the largest first. */
export function mergeGroups(pages: readonly (readonly Failure[])[]): Failure[] {
  const merged = new Map<string, Failure>();
  for (const group of pages.flat()) {
    const before = merged.get(groupKey(group));
    merged.set(groupKey(group), before === undefined ? group : joinGroups(before, group));
  }
  return [...merged.values()].toSorted((one, other) => other.count - one.count || other.lastAt.localeCompare(one.lastAt));
}

/** Names a group among the others. */
export function groupKey({ code, agent, release }: Failure): string {
  return [code, agent, release].join(' ');
}

/** Pages go from newer to older tasks, so the first example is the newest. */
function joinGroups(newer: Failure, older: Failure): Failure {
  return {
    ...newer,
    count: newer.count + older.count,
    firstAt: newer.firstAt < older.firstAt ? newer.firstAt : older.firstAt,
    lastAt: newer.lastAt > older.lastAt ? newer.lastAt : older.lastAt,
  };
}
