import type { TimeKind } from './gate-kinds.ts';

/** The gate of a turn that collects messages. Its task keeps its grant there. */
export const DEBOUNCE: TimeKind = {
  gate: 'debounce',
  sort: 'time',
  waits: 'for more messages of its turn (mode `collect`)',
  limit: '`debounceMs` after the last message',
  order: 'time',
  opens: 'the clock of Redis',
  helps: 'It starts when no more messages come.',
  describe: (_task, at) => `collects messages until ${at}`,
};
