import { closedGate, openGate, sinceGrant } from '../why/wait-reason.ts';
import type { SlotKind } from './gate-kinds.ts';
import { NOT_REACHED } from './turn.ts';

/** The gate of tasks that a slot has taken and not started yet. */
export const OUTBOX: SlotKind = {
  gate: 'outbox',
  sort: 'slot',
  waits: 'for the worker whose slot got it and which looks whether it may start',
  limit: 'one, by that worker',
  order: null,
  opens: 'that worker, or another within seconds',
  helps: 'It starts, or waits for what it lacks, within seconds. Should this last, see whether a worker runs.',
  atSlot: ({ facts: { turn, own }, task }) => {
    const facts = { waiting: own.outbox.entries };
    if (!task.state.granted) return openGate('outbox', NOT_REACHED, facts);
    if (turn !== null) return openGate('outbox', 'it stands in its line', facts);
    const detail = 'a slot has it and looks whether it may start';
    return closedGate('outbox', { detail, helps: OUTBOX.helps, since: sinceGrant(task), facts });
  },
};
