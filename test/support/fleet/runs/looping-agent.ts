import type { AgentFunction } from '#shared/config/define-config.ts';
import { tools } from './tools.ts';

/** Has a model note numbers, and counts in a step of its own how much it said. */
export const run: AgentFunction = async ({ input }, { agent, step }) => {
  const { output = '' } = await agent({ instructions: 'Note the numbers.', input, tools: { note: tools.note }, maxSteps: 100 });
  const length = await step('count', () => output.length);
  return { output, result: { length } };
};
