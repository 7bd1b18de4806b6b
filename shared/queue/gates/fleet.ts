import type { FleetRoom } from '../registry/fleet-room.ts';
import { closedGate, openGate, sinceGrant } from '../why/wait-reason.ts';
import type { SlotKind } from './gate-kinds.ts';

/** The gate of the fleet's cap on what runs at once. */
export const FLEET: SlotKind = {
  gate: 'fleet',
  sort: 'slot',
  waits: 'because the fleet runs as much as `limits.maxConcurrent`',
  limit: '`limits.maxConcurrent`, of which `limits.criticalShare` is for critical ones',
  order: "the [order of a worker's slots](#slots-of-a-worker)",
  opens: 'the end of a task of the fleet, or a raise',
  helps: 'It starts when something in the fleet ends. A higher priority brings it forward; an operator can raise `limits.maxConcurrent`.',
  foreseen: 'place',
  inChat: (behind) => `waits: the fleet runs as much as it may, and ${behind}`,
  atSlot: ({ facts: { room }, task, front: { inFleet: ahead } }) => {
    const { running, cap, reserved, isFull } = room;
    const facts = { running, cap, reserved };
    const words = describe(room, task.state.queue);
    if (!isFull) return openGate('fleet', words, facts);
    const inFront = ahead > 0 ? `, about ${ahead} tickets in front` : '';
    return closedGate('fleet', { detail: `${words}${inFront}`, helps: FLEET.helps, since: sinceGrant(task), facts: { ...facts, ahead } });
  },
};

function describe({ running, cap, reserved }: FleetRoom, queue: string): string {
  const share = reserved > 0 && queue !== 'critical' ? `, ${reserved} of them kept for critical tasks` : '';
  return `fleet cap ${running}/${cap}${share}`;
}
