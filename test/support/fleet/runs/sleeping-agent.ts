import { appendFileSync } from 'node:fs';
import type { AgentFunction } from '#shared/config/index.ts';

/** Where each effect of the agent is written, a line each, in the folder of the process. */
export const SLEEPS = 'sleeps.jsonl';

/** Takes a step before and behind each sleep of its context's `sleeps`, ms. */
export const run: AgentFunction = async ({ context: given }, context) => {
  const sleeps = given['sleeps'] as number[];
  for (const [at, ms] of sleeps.entries()) {
    context.write(`before ${at} `);
    await context.step(`step ${at}`, () => appendFileSync(SLEEPS, `${JSON.stringify({ at, pid: process.pid })}\n`));
    await context.sleep(ms);
    context.write(`after ${at} `);
  }
  return { result: { slept: sleeps.length } };
};
