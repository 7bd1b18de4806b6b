import { closedGate, openGate, sinceGrant } from '../why/wait-reason.ts';
import type { SlotKind } from './gate-kinds.ts';

/** The gate of runs that go on with the version of their agent that they began with. */
export const VERSION: SlotKind = {
  gate: 'version',
  sort: 'slot',
  waits: 'for a worker that has the [version](agents.md#versions) of its agent that its run began with: some have it, others have not',
  limit: 'slots of the workers that have it',
  order: "the [order of a worker's slots](#slots-of-a-worker)",
  opens: 'a free slot of such a worker, or the end of the last of them',
  helps: 'It starts when a worker with this version has a free slot, or in any one once none has it any more.',
  foreseen: 'place',
  inChat: (behind) => `waits for its turn: ${behind}`,
  atSlot: ({ facts: { version: found }, task }) => {
    const { version, agent } = task.state;
    if (version === undefined || found === null) return openGate('version', 'its run began with no version');
    const { having, others } = found;
    const facts = { version, having, others };
    if (having === 0) return openGate('version', `no worker has version ${version} of "${agent}": any goes on with its run`, facts);
    if (others === 0) return openGate('version', `all workers have version ${version} of "${agent}"`, facts);
    const detail = `its run began with version ${version} of "${agent}", which some workers have; others leave it to them`;
    return closedGate('version', { detail, helps: VERSION.helps, since: sinceGrant(task), facts });
  },
};
