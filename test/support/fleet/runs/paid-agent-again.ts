import type { AgentFunction } from '#shared/config/define-config.ts';

/** A later version of the agent beside: the same steps, and another answer. */
export const run: AgentFunction = async (_task, { step, waitFor }) => {
  const given = await step('one', () => 'of the second version');
  const paid = (await waitFor('paid')) as { data: { by: string } } | null;
  return `${given}, answered by the second version: ${paid?.data.by}`;
};
