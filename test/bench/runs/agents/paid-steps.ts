import { appendFileSync } from 'node:fs';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { wait } from '#shared/time/wait.ts';

/** The calls that are paid, a line each: the step, and the process. */
export interface PaidCall {
  step: number;
  pid: number;
}

/** A step's work: a call that takes `ms`, and is paid once it has begun. */
export async function pay(file: string, step: number, ms: number): Promise<void> {
  appendFileSync(file, `${JSON.stringify({ step, pid: process.pid } satisfies PaidCall)}\n`);
  await wait(ms);
}

/** Takes the steps of its task's context. */
export const run: AgentFunction = async ({ context }, { step }) => {
  const { file, steps, ms } = context as { file: string; steps: number; ms: number };
  for (let number = 1; number <= steps; number += 1) await step(`step ${number}`, async () => await pay(file, number, ms));
};
