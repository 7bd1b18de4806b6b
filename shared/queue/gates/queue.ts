import { closedGate, openGate, sinceGrant } from '../why/wait-reason.ts';
import type { SlotKind } from './gate-kinds.ts';

/** The last gate: a free slot. */
export const QUEUE: SlotKind = {
  gate: 'queue',
  sort: 'slot',
  waits: 'for a free slot',
  limit: '`worker.slots` of the workers that serve its queue',
  order: "the [order of a worker's slots](#slots-of-a-worker)",
  opens: 'a slot that becomes free',
  helps: 'It starts when a slot becomes free. A higher priority or another worker brings that forward.',
  foreseen: 'place',
  inChat: (behind) => `waits for its turn: ${behind}`,
  atSlot: ({ facts: { turn }, task, front: { inQueue, inFleet }, isHeld }) => {
    const name = task.state.queue;
    const facts = { place: inQueue + 1, fleetPlace: inFleet + 1 };
    if (!task.state.granted) return openGate('queue', `about ${inQueue} tickets would be in front of it in queue "${name}"`, facts);
    if (turn === null) return openGate('queue', 'a slot has it', facts);
    const detail = `waiting for a free slot in queue "${name}", about ${inQueue} tickets in front`;
    if (isHeld && inQueue === 0) return openGate('queue', `it is next in queue "${name}"`, facts);
    return closedGate('queue', { detail, helps: QUEUE.helps, since: sinceGrant(task), facts });
  },
};
