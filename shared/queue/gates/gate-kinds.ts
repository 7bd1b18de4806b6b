import type { GateKind, Ledger } from '../../ledger/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import type { FleetFacts } from '../why/read-facts.ts';
import type { TaskFront } from '../why/task-front.ts';
import type { GateReport, WaitingTask } from '../why/wait-reason.ts';

/** Where a task stands at a gate that so many pass at once. */
export interface LinePlace {
  /** One for each that is full; else an open one. */
  gates: GateReport[];
  /** How many go before it. */
  ahead: number;
  /** How many pass at once; null where nothing bounds them. */
  limit: number | null;
  /** The tasks that hold a lane. */
  holders: readonly string[];
  /** The classes of those that a cap counts. */
  classes: readonly string[];
}

/** A gate that so many tasks of a lane pass at once. */
export interface LaneKind extends GateKind {
  readonly sort: 'lane';
  /** Absent where another lane's kind reports it. */
  place?(ledger: Ledger, task: WaitingTask): Promise<LinePlace>;
}

/** One bound of a counted gate. */
export interface Cap {
  name: string;
  limit: number;
  /** Classes of the tasks that it counts: a letter and 0 for low priority, else 1. */
  classes: readonly string[];
}

/** A gate that so many tasks of some classes pass at once. Its line, its figures and its places are read in one way: see `counted.ts`. */
export interface CountedKind extends GateKind {
  readonly sort: 'counted';
  /** The bounds that hold for a task. */
  caps(ledger: Ledger, task: WaitingTask): Cap[];
  /** Said where there is none, and where one has become free again. */
  readonly noCaps: string;
  readonly freeAgain: string;
}

/** A gate that the clock opens. */
export interface TimeKind extends GateKind {
  readonly sort: 'time' | 'backoff';
  /** What a task waits for there. `at`: its time, in words. */
  describe(task: WaitingTask, at: string, ledger: Pick<Ledger, 'settings'>): string;
  /** Whether nobody knows when a task starts, although it has a time. */
  isUnknown?(state: TaskState, ledger: Pick<Ledger, 'settings'>): boolean;
}

/** What is known of a task between its grant and its start. */
export interface AtSlot {
  facts: FleetFacts;
  task: WaitingTask;
  front: TaskFront;
  /** Whether a gate before this one is closed. */
  isHeld: boolean;
}

/** A gate that a worker looks at before it starts a task. */
export interface SlotKind extends GateKind {
  atSlot(at: AtSlot): GateReport;
}

/** The kind of a gate; undefined for one that this process does not know. */
export function kindOf({ gates }: Pick<Ledger, 'gates'>, gate: string | null | undefined): GateKind | undefined {
  return typeof gate === 'string' ? gates[gate] : undefined;
}

/** What helps at a gate, for people. */
export function helpsAt(ledger: Pick<Ledger, 'gates'>, gate: string): string {
  return kindOf(ledger, gate)?.helps ?? '';
}

type PlacedLane = LaneKind & Required<Pick<LaneKind, 'place'>>;

const isLane = (kind: GateKind): kind is PlacedLane => kind.sort === 'lane' && 'place' in kind;
const isCounted = (kind: GateKind): kind is CountedKind => kind.sort === 'counted';
const isTime = (kind: GateKind): kind is TimeKind => kind.sort === 'time' || kind.sort === 'backoff';
const isAtSlot = (kind: GateKind): kind is SlotKind => 'atSlot' in kind;

/** The kinds of each part of a task's path, in its order, which is that of their registration. */
export const laneKinds = ({ gates }: Ledger): PlacedLane[] => Object.values(gates).filter(isLane);
export const countedKinds = ({ gates }: Ledger): CountedKind[] => Object.values(gates).filter(isCounted);
export const slotKinds = ({ gates }: Ledger): SlotKind[] => Object.values(gates).filter(isAtSlot);

/** The kind of the time at which a task stands; undefined for another gate. */
export function timeKind(ledger: Pick<Ledger, 'gates'>, gate: string | undefined): TimeKind | undefined {
  const kind = kindOf(ledger, gate);
  return kind && isTime(kind) ? kind : undefined;
}
