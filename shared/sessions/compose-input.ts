import type { TakenInput } from '../ledger/index.ts';

/** Between the messages that make one input. */
const BREAK = '\n\n';
const LEFT_OUT = 'Earlier messages that were left out, because too many waited, by how they began:';

/**
 * What an agent is asked when messages belong to its task: those it carries on from a stopped one, the task's own text, then those
 * that were merged or steered into it, in their order, with a blank line between two. Before all, a line about each message that was
 * left out (`leftOut`: how they began).
 */
export function composeInput(own: string, inputs: readonly Pick<TakenInput, 'how' | 'text'>[], leftOut: readonly string[] = []): string {
  const carried = inputs.filter(({ how }) => how === 'carried');
  const others = inputs.filter(({ how }) => how !== 'carried');
  const notes = leftOut.length === 0 ? [] : [[LEFT_OUT, ...leftOut.map((text) => `- ${text.replaceAll(/\s+/g, ' ').trim()}`)].join('\n')];
  return [...notes, ...carried.map(({ text }) => text), own, ...others.map(({ text }) => text)].join(BREAK);
}
