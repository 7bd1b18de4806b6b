import type { AgentFunction } from '#shared/config/define-config.ts';

/** Takes a step, and waits for the event `paid`. */
export const run: AgentFunction = async (_task, { step, waitFor }) => {
  const given = await step('one', () => 'a secret of the step');
  const paid = (await waitFor('paid')) as { data: { by: string } } | null;
  return `${given}, paid by ${paid?.data.by}`;
};
