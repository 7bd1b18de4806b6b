import { z } from 'zod';

const lane = z.string().optional().catch(undefined);
const named = <Field extends z.ZodType>(field: Field): z.ZodCatch<z.ZodRecord<z.ZodString, Field>> => z.record(z.string(), field).catch({});

/** As much of a configuration as lanes are named in. What else is wrong with it is told by its own schema. */
const lanesSchema = z
  .object({
    agents: named(z.object({ lane }).catch({})),
    retries: named(z.object({ sharedLane: lane }).catch({})),
    lanes: named(z.unknown()),
  })
  .catch({ agents: {}, retries: {}, lanes: {} });

/**
 * Lanes that agents and sources name and `lanes` does not have, one line each. Takes the file as it was written, so that it can be
 * told together with whatever else is wrong in it.
 */
export function laneProblems(written: unknown): string[] {
  const { agents, retries, lanes } = lanesSchema.parse(written);
  const wanted = [
    ...Object.entries(agents).map(([id, agent]) => ({ path: `agents.${id}.lane`, name: agent.lane })),
    ...Object.entries(retries).map(([source, policy]) => ({ path: `retries.${source}.sharedLane`, name: policy.sharedLane })),
  ];
  return wanted
    .filter(({ name }) => name !== undefined && !Object.hasOwn(lanes, name))
    .map(({ path, name }) => `${path}: there is no lane "${name}" in "lanes"`);
}
