import type { HoldKind, HoldKinds } from '../../ledger/index.ts';
import type { WaitGate } from './wait-reason.ts';

/** What helps at a gate that nothing has to release, or that a free slot meets too; what helps at others is in their `HoldKind`. */
export const HELPS = {
  lane: 'It starts when the task before it has ended. Cancel that task, or use another session.',
  steer: 'The running task has yet to take it in. Stop that task to start this one.',
  cap: "It starts when one of the tenant's tasks ends. An administrator can raise the tenant's caps, or the fleet's where that is full.",
  time: 'It starts at its time. Send it again without `scheduledFor` to start it now.',
  debounce: 'It starts when no more messages come.',
  retry: 'It is tried again at its time. Retry it to start it now.',
  suspect: 'It comes back by itself. Its worker was lost while it ran, so it runs apart from others.',
  turn: 'It starts when the turn of its tenant comes. A higher priority or more slots bring that forward.',
  fleet: 'It starts when something in the fleet ends. A higher priority brings it forward; an operator can raise `limits.maxConcurrent`.',
  paused: 'An operator has to resume the queue.',
  worker: 'An operator has to start a worker that serves this queue.',
  queue: 'It starts when a slot becomes free. A higher priority or another worker brings that forward.',
  outbox: 'It starts, or waits for what it lacks, within seconds. Should this last, see whether a worker runs.',
  rate: 'It starts when its queue may start another. An operator can raise the `limiter` of the queue.',
  clock: "Times count by Redis's clock. An operator should synchronise the clock of this server.",
  deadline: 'It ends as stale. Send it again with a later deadline.',
} as const satisfies Partial<Record<WaitGate, string>>;

/** What helps at a gate, for people: the same words in `why`, in chats, in findings and in refusals. */
export function helpsAt({ holds }: { readonly holds: HoldKinds }, gate: WaitGate): string {
  const [kinds, words]: [Partial<Record<WaitGate, HoldKind>>, Partial<Record<WaitGate, string>>] = [holds, HELPS];
  return kinds[gate]?.helps ?? words[gate] ?? '';
}

/** The same for lanes of several sessions. */
export const LANE_HELPS = {
  agent:
    "It starts when enough of the agent's tasks have ended. An administrator can raise the agent's `maxRunning`, or the tenant's `runningByAgent`.",
  shared: 'It starts when the tasks before it in the lane have ended. An operator can raise the `limit` of the lane.',
} as const;

/** What helps when a task is refused. */
export const REFUSAL_HELPS = {
  rate: 'Send less often, or ask an administrator for a higher rate.',
  waiting: "It is accepted when fewer tasks wait. An administrator can raise the tenant's `waiting`.",
  pressure: 'Send it again later, or with a higher priority.',
} as const;
