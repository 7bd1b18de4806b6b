import { setTimeout as wait } from 'node:timers/promises';
import type { AgentFunction } from '#shared/config/index.ts';

/** Between two words. */
const PACE_MS = 150;

/** Says its input word by word, as slowly as a model. */
export const run: AgentFunction = async ({ input }, { write, signal }) => {
  for (const word of input.match(/\S+\s*/g) ?? []) {
    write(word);
    await wait(PACE_MS, undefined, { signal });
  }
};
