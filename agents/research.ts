import { type AgentFunction, TaskFailure } from 'muster/config';

const SIDES = ['for', 'against', 'open questions'] as const;

/**
 * Has three sub-tasks look at a question from one side each, and sums up what they found: an example of an agent that waits for others without a
 * slot. `context.reader` names the agent that looks, `word-count` unless said otherwise.
 */
export const run: AgentFunction = async ({ input, context }, { delegateAll, step, write }) => {
  const reader = typeof context['reader'] === 'string' ? context['reader'] : 'word-count';
  const found = await delegateAll(SIDES.map((side) => [reader, `${input} (${side})`, { timeoutMs: '10 minutes', metadata: { side } }]));
  const notes = SIDES.map((side, at) => ({ side, text: found[at]?.output ?? null, error: found[at]?.error ?? null }));
  if (notes.every(({ error }) => error !== null)) throw new TaskFailure('NO_NOTES', `No side of "${input}" could be looked at`);
  const summary = await step('sum up', () =>
    notes.map(({ side, text, error }) => `${side}: ${text ?? `nothing (${error?.code})`}`).join('\n'),
  );
  write(summary);
  return { result: { notes } };
};
