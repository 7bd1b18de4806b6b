import { join } from 'node:path';

/** What the tests read from the environment; `process.env` is read nowhere else in them. */
export const testEnvironment = {
  /** On a CI host nothing is skipped or replaced because it is missing. */
  isCi: process.env['CI'] === 'true',
  /** The image of the Redis to test against, where a Docker engine answers. */
  redisImage: process.env['REDIS_IMAGE'] || undefined,
  /** The Redis program, when it is not `redis-server` on the PATH. */
  redisServer: process.env['REDIS_SERVER'] || 'redis-server',
  /** Whether scenarios run at full size, for `npm run chaos`. */
  isChaos: process.env['MUSTER_CHAOS'] === 'full',
  /** The seed of random steps that are to be played again. */
  seed: process.env['MUSTER_SEED'] ? Number(process.env['MUSTER_SEED']) : undefined,
  /** How long scenarios of full size last that have a duration. */
  chaosMinutes: Number(process.env['MUSTER_CHAOS_MINUTES'] || 10),
  /** What `check.mjs` did before the tests, as JSON; undefined when the tests run by themselves. */
  earlierStages: process.env['CHECK_STAGES'] || undefined,
} as const;

/**
 * The cases of a statement: all of them in `npm run chaos`, and the first ones in `npm test`, which has no time for each. A statement for the
 * former alone is an `it.runIf(testEnvironment.isChaos)`.
 */
export function firstOf<Case>(cases: readonly Case[], inSmall = 1): readonly Case[] {
  return testEnvironment.isChaos ? cases : cases.slice(0, inSmall);
}

/** The environment for a child process: this process's own, without settings of a fleet, and then `extra`. */
export function childEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(MUSTER_|OPENAI_|VITEST|REDIS_URL$|PORT$|NODE_ENV$|TEST$)/.test(entry[0]),
  );
  return { ...Object.fromEntries(own), ...extra };
}

/** Its helper container needs a download, and the containers here are stopped by the tests that start them. */
export function disableContainerReaper(): void {
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
}

/**
 * Lets this process and its children keep compiled code between runs. The fleets of the tests start hundreds of processes, and compiling
 * is about half of the CPU time that a start takes.
 */
export function shareCompiledCode(): void {
  process.env['NODE_COMPILE_CACHE'] ||= join(import.meta.dirname, '../../node_modules/.cache/node');
}
