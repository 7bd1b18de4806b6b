import { QUEUE_MODES, type QueueMode } from '../config/index.ts';
import type { ChosenMode, ModeSource } from './choose-mode.ts';

const MEANING: Readonly<Record<QueueMode, string>> = {
  queue: 'a message goes into the running task if its agent takes input and nothing waits, else it waits its turn',
  steer: 'a message goes into the running task if its agent takes input, past what waits, else it waits its turn',
  interrupt: 'a message stops the running task and replaces what waits',
  collect: 'messages wait, and become one turn together',
  latest: 'a message waits its turn and replaces what waited before',
  reject: 'a message that meets a running task is refused',
};

const SOURCE: Readonly<Record<ModeSource, (surface: string) => string>> = {
  message: () => 'for this message',
  session: () => 'chosen for this session',
  surface: (surface) => `the default of ${surface}`,
  global: () => 'the default',
};

export const HOW_TO_CHOOSE = `Choose with /queue <mode>: ${QUEUE_MODES.join(', ')}; /queue default takes the choice back.`;

/** A mode, where it comes from, and what it means, for the people of a session. */
export function describeMode({ mode, source }: ChosenMode, surface: string): string {
  return `Mode: ${mode} (${SOURCE[source](surface)}): ${MEANING[mode]}.`;
}
