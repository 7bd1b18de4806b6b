import { HOLD_ORDER, type HoldKind } from '../../ledger/index.ts';
import { closedGate, openGate, sinceGrant } from '../why/wait-reason.ts';
import type { SlotKind } from './gate-kinds.ts';

/** The gate of paused queues. */
export const PAUSED: HoldKind & SlotKind = {
  gate: 'paused',
  sort: 'hold',
  waits: 'because its queue is paused; within five seconds it leaves its places under caps and in shared lanes to others',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'an operator',
  helps: 'An operator has to resume the queue.',
  foreseen: 'never',
  inChat: () => 'waits: an operator has paused its queue',
  explain: (_tenant, queue) => Promise.resolve({ detail: `queue "${queue}" is paused`, facts: {}, until: null }),
  atSlot: ({ facts: { isPaused }, task }) => {
    const name = task.state.queue;
    if (!isPaused) return openGate('paused', `queue "${name}" is not paused`);
    return closedGate('paused', { detail: `queue "${name}" is paused`, helps: PAUSED.helps, since: sinceGrant(task) });
  },
};
