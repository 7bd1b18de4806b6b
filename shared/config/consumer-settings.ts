import { z } from 'zod';
import { whole } from './whole.ts';

/** How a process sees that it stopped taking jobs of a queue, and what it does then. */
export const consumerSettingsSchema = z.strictObject({
  /** Longest wait of a process with free slots before it asks its queue again, should no wake-up reach it. */
  pollMs: whole(5000, 100),
  /** Between two looks at each queue that the process takes jobs of. */
  watchMs: whole(1000, 50),
  /**
   * A queue that has waiting jobs and was not asked for them for so long has stopped, and is opened again. Must be longer than
   * `pollMs`; without waiting jobs it is three times as long.
   */
  stoppedAfterMs: whole(6500, 100),
  /** A queue or a subscription that was opened so often in a row and never moved, or a connection that failed so often alone, ends the process. */
  maxReopens: whole(4),
  /** Between two looks at the connection for commands, and two messages to itself by which a process sees that it still hears its fellows; three in a row that are lost reopen the subscription. */
  echoMs: whole(3000, 50),
});

export type ConsumerSettings = z.infer<typeof consumerSettingsSchema>;
