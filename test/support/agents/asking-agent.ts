import { appendFileSync } from 'node:fs';
import type { AgentFunction, Question } from '#shared/config/index.ts';

/** Where each effect of the agent is written, a line each, in the folder of the process. */
export const ASKED = 'asked.jsonl';

/** Asks what its task's context has as `ask`, between two steps, and results in the answer. */
export const run: AgentFunction = async ({ context: given }, context) => {
  await context.step('before', () => note('before'));
  context.write('asked ');
  const answer = await context.ask(given['ask'] as Question);
  await context.step('after', () => note('after'));
  context.write('answered');
  return { result: { answer } };
};

function note(what: string): void {
  appendFileSync(ASKED, `${JSON.stringify({ what, pid: process.pid })}\n`);
}
