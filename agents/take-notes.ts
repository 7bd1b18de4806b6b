import { setTimeout as delay } from 'node:timers/promises';
import type { AgentFunction } from 'muster/config';

const LOOK_MS = 50;
/** By default, and at most. */
const LISTEN_MS = { usual: 5000, max: 600_000 };

/**
 * Notes down what it is told while it runs, for `context.listenMs` (5 s unless said otherwise): an example of an agent that takes
 * messages into its run and knows what its session said before. In the configuration it has `takesInput: true`.
 */
export const run: AgentFunction = async (task, { input, history, write, signal }) => {
  const notes = [task.input];
  const earlier = await history();
  write(`${earlier.length} earlier turn(s). Noting.`);
  const endsAt = performance.now() + listenMsOf(task.context['listenMs']);
  while (performance.now() < endsAt) {
    await delay(LOOK_MS, undefined, { signal });
    for (const { text, user } of await input()) {
      notes.push(text);
      write(`\n- ${user ?? 'somebody'}: ${text}`);
    }
  }
  return { result: { notes } };
};

function listenMsOf(wanted: unknown): number {
  return typeof wanted === 'number' ? Math.min(Math.max(wanted, 0), LISTEN_MS.max) : LISTEN_MS.usual;
}
