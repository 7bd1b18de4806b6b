import { appendFileSync } from 'node:fs';
import type { AgentEvent, AgentFunction, WaitForOptions } from '#shared/config/index.ts';

/** Where runs with a number write it once they have their events, a line each, in the folder of the process. */
export const EVENTS = 'events.txt';

/** The context of a task of the agent. */
export interface EventsWanted extends WaitForOptions {
  name: string;
  /** How many events it waits for, one after the other. Defaults to 1. */
  times?: number;
  n?: number;
}

/** Waits for the events that its context names, and answers with what it got. */
export const run: AgentFunction = async ({ context: given }, context) => {
  const { name, times = 1, n, ...options } = given as unknown as EventsWanted;
  const events: (AgentEvent | null)[] = [];
  for (let at = 0; at < times; at += 1) events.push(await context.waitFor(name, options));
  if (n !== undefined) await context.step('note', () => appendFileSync(EVENTS, `${n}\n`));
  return { result: { events } };
};
