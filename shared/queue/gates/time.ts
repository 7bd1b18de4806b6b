import type { TimeKind } from './gate-kinds.ts';

/** The gate of a task that was sent for a later time. */
export const TIME: TimeKind = {
  gate: 'time',
  sort: 'time',
  waits: 'for its `scheduledFor`',
  limit: 'from that time on',
  order: 'time',
  opens: 'the clock of Redis',
  helps: 'It starts at its time. Send it again without `scheduledFor` to start it now.',
  describe: (_task, at) => `not before ${at}`,
};
