import { QUEUE_MODES, type QueueMode } from '#shared/config/queue-mode.ts';

/** What becomes of a message that meets work of its session, in a line for people. */
export const MODE_TEXTS: Readonly<Record<QueueMode, string>> = {
  queue: 'Joins the running answer if its agent takes more, else waits its turn',
  interrupt: 'Stops the running answer and replaces what waits',
  collect: 'Waits, and becomes one turn together with what else waits',
  steer: 'Goes into the running answer, past what waits, if its agent takes more',
  latest: 'Replaces what waits; the running answer goes on',
  reject: 'Is refused while an answer is running',
};

export const MODES: readonly QueueMode[] = QUEUE_MODES;
