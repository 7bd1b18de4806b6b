import type { Settings } from './settings.ts';

/** Lanes that agents and sources name and `lanes` does not have, one line each. */
export function laneProblems({ agents, retries, lanes }: Settings): string[] {
  const named = [
    ...Object.entries(agents).map(([id, agent]) => ({ path: `agents.${id}.lane`, lane: agent.lane })),
    ...Object.entries(retries).map(([source, policy]) => ({
      path: `retries.${source}.sharedLane`,
      lane: typeof policy === 'object' ? policy.sharedLane : undefined,
    })),
  ];
  return named
    .filter(({ lane }) => lane !== undefined && lanes[lane] === undefined)
    .map(({ path, lane }) => `${path}: there is no lane "${lane}" in "lanes"`);
}
