import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { wait } from '#shared/time/wait.ts';

/** Effects of the steps, a line each: the key of the call outward, the step, and the process. */
export const EFFECTS = 'effects.ndjson';

export interface Effect {
  key: string;
  step: number;
  pid: number;
}

/** Takes `steps` of its task's context, each of which has an effect outside, writes a line, and takes `stepMs`. */
export const run: AgentFunction = async ({ context }, { step, once, write, now, random }) => {
  const { steps, stepMs, endsIn } = context as { steps: number; stepMs: number; endsIn?: number };
  const seen: number[] = [];
  for (let number = 1; number <= steps; number += 1) {
    const drawn = [now(), random()];
    write(`before ${number}, `);
    const given = await step(`step ${number}`, async () => {
      const effect: Effect = { key: once('effect'), step: number, pid: process.pid };
      appendFileSync(join(process.cwd(), EFFECTS), `${JSON.stringify(effect)}\n`);
      if (number === endsIn) process.kill(process.pid, 'SIGKILL');
      write(`in ${number}. `);
      await wait(stepMs);
      return { number, drawn };
    });
    // What an earlier attempt had, this one has again.
    if (given.drawn[0] !== drawn[0] || given.drawn[1] !== drawn[1]) throw new Error(`step ${number} had other times`);
    seen.push(given.number);
  }
  return { result: { seen } };
};
