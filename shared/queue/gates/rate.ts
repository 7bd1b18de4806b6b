import { timeText } from '../../time/index.ts';
import { limitedMs } from '../why/read-facts.ts';
import { closedGate, openGate, sinceGrant } from '../why/wait-reason.ts';
import type { SlotKind } from './gate-kinds.ts';

/** The gate of a queue's limiter. */
export const RATE: SlotKind = {
  gate: 'rate',
  sort: 'slot',
  waits: 'because its queue has started as many as its `limiter` allows',
  limit: '`max` starts in `durationMs`',
  order: "the [order of a worker's slots](#slots-of-a-worker)",
  opens: 'the clock of Redis',
  helps: 'It starts when its queue may start another. An operator can raise the `limiter` of the queue.',
  inChat: () => 'waits: its queue starts no more for the moment',
  atSlot: ({ facts: { limited, skewMs }, task, front: { inQueue: ahead } }) => {
    const name = task.state.queue;
    const leftMs = limitedMs(limited, ahead);
    if (limited === null || leftMs <= 0) return openGate('rate', `queue "${name}" may start another`);
    const until = Date.now() - skewMs + leftMs;
    const pace = `its limiter lets ${limited.max} start in ${limited.durationMs} ms`;
    const detail = `queue "${name}" waits for its limiter: ${pace}, so it may start from ${timeText(until)} on`;
    return closedGate('rate', { detail, helps: RATE.helps, since: sinceGrant(task), until, facts: { leftMs, ahead } });
  },
};
