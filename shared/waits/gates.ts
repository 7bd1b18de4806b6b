import type { HoldGate } from '../errors/index.ts';
import { HOLD_ORDER, type HoldKind, type Ledger, readLater } from '../ledger/index.ts';
import { batchKind } from '../providers/index.ts';

const DAY_MS = 86_400_000;

/** The gate of a run that sleeps. */
const SLEEP: HoldKind = {
  gate: 'sleep',
  sort: 'hold',
  waits: 'while its run [sleeps](agents.md#waiting-without-a-slot)',
  limit: 'from that time on',
  order: HOLD_ORDER,
  opens: 'the clock of Redis',
  helps: 'Its run goes on at its time.',
  longMs: 30 * DAY_MS,
};

/** The gate of a run that waits for an event. */
const EVENT: HoldKind = {
  gate: 'event',
  sort: 'hold',
  waits: 'until an [event](agents.md#waiting-without-a-slot) comes that its run waits for',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'an event that fits, or its time',
  helps: 'Send the event by POST /v1/events, or cancel the task.',
  longMs: 7 * DAY_MS,
  foreseen: 'never',
};

/** The gate of a run that waits for a person's answer. */
const QUESTION: HoldKind = {
  gate: 'question',
  sort: 'hold',
  waits: 'until a person answers the [question](agents.md#waiting-without-a-slot) of its run',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'an answer, or its time',
  helps: 'Answer the question, or cancel the task.',
  longMs: DAY_MS,
  foreseen: 'never',
};

/** The gate of a run that waits for its sub-tasks. */
const CHILDREN: HoldKind = {
  gate: 'children',
  sort: 'hold',
  waits: 'until the [sub-tasks](agents.md#waiting-without-a-slot) have ended that its run waits for',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'the end of the last of them',
  helps: 'It goes on when its sub-tasks have ended. Their pages say what these wait for.',
  longMs: DAY_MS,
  foreseen: 'never',
};

/** The gate of a run that waits for what functions of its caller give. */
const CALLER: HoldKind = {
  gate: 'caller',
  sort: 'hold',
  waits: 'until its caller sends what its [functions](openai.md#functions-of-the-caller) gave',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'a request with that, or its time',
  helps: 'Its caller sends the outputs of the functions that the model called; without them it ends after openai.callerWaitMs.',
  longMs: DAY_MS,
  foreseen: 'never',
};

/** The gates of suspended runs. */
export const WAIT_KINDS = { sleep: SLEEP, event: EVENT, question: QUESTION, children: CHILDREN, caller: CALLER } satisfies Partial<
  Record<HoldGate, HoldKind>
>;

/** The same with that of batches, which find out what can be known of a wait. */
export function waitKinds(ports: Pick<Ledger, 'redis' | 'keys' | 'settings'>): typeof WAIT_KINDS & { batch: HoldKind } {
  const explain: HoldKind['explain'] = async (tenant, id) => {
    const later = await readLater(ports, { tenant, id });
    if (later === null) return null;
    return { detail: `its run waits for sub-tasks, some of which are not accepted yet: ${later}`, facts: {}, until: null };
  };
  return { ...WAIT_KINDS, children: { ...CHILDREN, explain }, batch: batchKind(ports) };
}
