/**
 * Of which sort a gate is:
 * - `lane`, `counted`: so many tasks at once pass it, by lane or by class
 * - `time`, `backoff`: the clock opens it, `backoff` for a task that has run before
 * - `hold`: it is closed until a release
 * - `slot`: what a worker looks at before it starts a task that has its grant
 * - `clock`, `deadline`: what may be wrong with the times themselves
 */
export type GateSort = 'lane' | 'counted' | 'time' | 'backoff' | 'hold' | 'slot' | 'clock' | 'deadline';

interface GateField {
  readonly sort: GateSort;
  /** What a task waits for there, behind "It waits for". */
  readonly waitsFor: string;
  /** What a person's retry of a task there does, where it does something: it starts that one, or all that wait there with it. */
  readonly retry?: 'starts' | 'releases';
  /** Whether a run is suspended there: it has begun, and waits without a slot. */
  readonly suspends?: true;
}

/** Everything that a task can wait at. A new gate is a line here and a file with its kind, which `openLedger` registers. */
const FIELDS = {
  lane: { sort: 'lane', waitsFor: 'the task before it in its lane' },
  steer: { sort: 'lane', waitsFor: 'the running task to take it as input' },
  cap: { sort: 'counted', waitsFor: 'room under a limit' },
  time: { sort: 'time', waitsFor: 'its time' },
  debounce: { sort: 'time', waitsFor: 'further messages' },
  retry: { sort: 'backoff', waitsFor: 'its retry' },
  suspect: { sort: 'backoff', waitsFor: 'an isolated run' },
  budget: { sort: 'hold', waitsFor: 'its budget', retry: 'starts' },
  provider: { sort: 'hold', waitsFor: 'its provider', retry: 'starts' },
  circuit: { sort: 'hold', waitsFor: 'an endpoint that keeps failing', retry: 'starts' },
  failures: { sort: 'hold', waitsFor: 'somebody to see to its agent', retry: 'releases' },
  agent: { sort: 'hold', waitsFor: 'its agent, which is paused' },
  repeats: { sort: 'hold', waitsFor: 'somebody to see to what sends the same input', retry: 'releases' },
  interruptions: { sort: 'hold', waitsFor: 'somebody to see to what interrupts it', retry: 'starts' },
  daemon: { sort: 'hold', waitsFor: 'a daemon that can run it' },
  paused: { sort: 'hold', waitsFor: 'its queue, which is paused' },
  worker: { sort: 'hold', waitsFor: 'a worker that serves its queue' },
  commands: { sort: 'hold', waitsFor: 'other commands to end' },
  sleep: { sort: 'hold', waitsFor: 'the time until which its run sleeps', suspends: true },
  event: { sort: 'hold', waitsFor: 'an event', suspends: true },
  question: { sort: 'hold', waitsFor: 'an answer', suspends: true },
  children: { sort: 'hold', waitsFor: 'its sub-tasks', suspends: true },
  batch: { sort: 'hold', waitsFor: "the answer of a provider's batch", suspends: true },
  caller: { sort: 'hold', waitsFor: 'its caller', suspends: true },
  version: { sort: 'slot', waitsFor: 'a worker that has the version of its agent' },
  turn: { sort: 'slot', waitsFor: 'the turn of its tenant' },
  fleet: { sort: 'slot', waitsFor: 'room in the fleet' },
  queue: { sort: 'slot', waitsFor: 'a free slot' },
  outbox: { sort: 'slot', waitsFor: 'the worker that looks whether it may start' },
  rate: { sort: 'slot', waitsFor: 'the limiter of its queue' },
  clock: { sort: 'clock', waitsFor: 'the clock of Redis' },
  deadline: { sort: 'deadline', waitsFor: 'its end as stale' },
} as const satisfies Record<string, GateField>;

export type WaitGate = keyof typeof FIELDS;

type OfSort<Sort extends GateSort> = { [Name in WaitGate]: (typeof FIELDS)[Name]['sort'] extends Sort ? Name : never }[WaitGate];

/** What can hold a task without a slot until a release. */
export type HoldGate = OfSort<'hold'>;
/** What a task can wait at without a grant. */
export type Gate = OfSort<'lane' | 'counted' | 'time' | 'backoff' | 'hold'>;

function isGate(name: string): name is WaitGate {
  return Object.hasOwn(FIELDS, name);
}

function fieldOf(gate: string): GateField | undefined {
  return isGate(gate) ? FIELDS[gate] : undefined;
}

export const WAIT_GATES: readonly WaitGate[] = Object.keys(FIELDS).filter(isGate);

const WITHOUT_GRANT: ReadonlySet<GateSort> = new Set(['lane', 'counted', 'time', 'backoff', 'hold']);
export const HOLD_GATES: readonly HoldGate[] = WAIT_GATES.filter((gate): gate is HoldGate => FIELDS[gate].sort === 'hold');
export const SUSPENDED_GATES: readonly HoldGate[] = HOLD_GATES.filter((gate) => fieldOf(gate)?.suspends === true);
export const GATES: readonly Gate[] = WAIT_GATES.filter((gate): gate is Gate => WITHOUT_GRANT.has(FIELDS[gate].sort));

/** Gates of a task that has run before, or was about to, and starts again at a time, which a person's retry brings forward. */
export const BACKOFF_GATES: ReadonlySet<string | undefined> = new Set(
  WAIT_GATES.filter((gate) => FIELDS[gate].sort === 'hold' || FIELDS[gate].sort === 'backoff'),
);

/** The sort of a gate; undefined for one that a later release wrote. */
export function sortOf(gate: string): GateSort | undefined {
  return fieldOf(gate)?.sort;
}

/** What a task waits for at a gate, in words: `its retry`. */
export function gateText(gate: string): string {
  return fieldOf(gate)?.waitsFor ?? gate;
}

/** What a retry of a task that waits at a gate does; null for nothing. */
export function retryAt(gate: string): 'starts' | 'releases' | null {
  return fieldOf(gate)?.retry ?? null;
}
