import { SOURCE_CLASSES } from '../../config/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { CLASS_LETTERS } from '../../tasks/index.ts';
import type { WaitingTask } from '../why/wait-reason.ts';
import { ALL_CLASSES, LOW_CLASSES } from './counted.ts';
import type { Cap, CountedKind } from './gate-kinds.ts';

/** The gate of a tenant's caps on what runs at once, and of its shares of the fleet's. */
export const CAP: CountedKind = {
  gate: 'cap',
  sort: 'counted',
  waits: 'because its tenant, or all tenants of the fleet, have as much running as they may',
  limit: "the tenant's figures, and its shares of the fleet's",
  order: 'priority, then age',
  opens: "the end of one of the tenant's tasks, or a raise",
  helps: "It starts when one of the tenant's tasks ends. An administrator can raise the tenant's caps, or the fleet's where that is full.",
  foreseen: 'place',
  noCaps: 'its tenant has no caps',
  freeAgain: 'tenant caps; one has become free',
  caps: capsOf,
};

/** The caps that hold for a task of this class: its tenant's own, and its tenant's shares of the fleet's. */
function capsOf(ledger: Ledger, { body, state }: WaitingTask): Cap[] {
  const limits = ledger.limitsOf(body.tenant);
  const shares = ledger.fleetShareOf?.(body.tenant)?.shares ?? {};
  const letter = state.class.slice(0, 1);
  const source = SOURCE_CLASSES.find((each) => CLASS_LETTERS[each] === letter);
  const ofClass = [`${letter}1`, `${letter}0`];
  const low = state.class.endsWith('0') ? LOW_CLASSES : null;
  const figures: [name: string, limit: number | null | undefined, classes: readonly string[] | null][] = [
    ['tenant', limits?.running, ALL_CLASSES],
    [`tenant's ${source}`, source && limits?.runningByClass[source], ofClass],
    ["tenant's low priority", limits?.runningLow, low],
    [`tenant's share of the fleet's ${source}`, source && shares[source], ofClass],
    ["tenant's share of the fleet's low priority", shares.low, low],
  ];
  return figures.flatMap(([name, limit, classes]) => (typeof limit === 'number' && classes ? [{ name, limit, classes }] : []));
}
