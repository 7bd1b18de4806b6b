import type { Level } from '../../ledger/index.ts';
import { closedGate, type GateReport, openGate, sinceGrant, type WaitingTask } from '../why/wait-reason.ts';
import type { AtSlot, SlotKind } from './gate-kinds.ts';

/** The gate of tenants that take turns. */
export const TURN: SlotKind = {
  gate: 'turn',
  sort: 'slot',
  waits: "for its tenant's turn: several tenants wait for slots at its priority",
  limit: 'free slots',
  order: 'tenants by the time that their tasks took, and `weight`',
  opens: 'a free slot',
  helps: 'It starts when the turn of its tenant comes. A higher priority or more slots bring that forward.',
  foreseen: 'place',
  inChat: (behind) => `waits for its turn: ${behind}`,
  atSlot: explainTurn,
};

export const NOT_REACHED = 'it comes to this once it has a grant';

function explainTurn({ facts: { turn, own }, task, front: { inFleet: ahead } }: AtSlot): GateReport {
  const { priority, granted } = task.state;
  if (turn === null) return openGate('turn', granted ? 'a slot has it' : NOT_REACHED);
  const place = `place ${turn.ahead + 1} of its tenant's ${turn.ready} ready tasks of priority ${priority}`;
  const line = own.lines.find(({ tenant }) => tenant === task.body.tenant);
  const facts = {
    tenantPlace: turn.ahead + 1,
    tenantReady: turn.ready,
    fleetPlace: ahead + 1,
    fleetReady: readyOf(own.levels, task),
    tenants: turn.tenants,
    weight: line?.weight ?? 1,
  };
  if (turn.tenants <= 1) return openGate('turn', `${place}; no other tenant waits there`, facts);
  const detail = `${place}; ${turn.tenants} tenants take turns; place ${ahead + 1} in the fleet`;
  return closedGate('turn', { detail, helps: TURN.helps, since: sinceGrant(task), facts });
}

function readyOf(levels: readonly Level[], { state }: WaitingTask): number {
  return levels.reduce((sum, { queue, ready }) => (queue === state.queue ? sum + ready : sum), 0);
}
