import type { AgentFunction } from 'muster/config';

/** Counts the words of its input: an example to copy. */
export const run: AgentFunction = (task, { write, signal }) => {
  signal.throwIfAborted();
  const words = task.input.split(/\s+/).filter(Boolean);
  write(`${words.length} words`);
  return Promise.resolve({ result: { words: words.length, characters: task.input.length } });
};
