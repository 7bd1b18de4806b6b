import type { Ledger } from '../../ledger/index.ts';
import { isTerminal, type TaskStatus } from '../../tasks/index.ts';
import { estimateStart } from './estimate-start.ts';
import { explainAcceptance } from './explain-acceptance.ts';
import { explainCaps } from './explain-caps.ts';
import { explainHold } from './explain-hold.ts';
import { explainLanes } from './explain-lanes.ts';
import { explainQueue } from './explain-queue.ts';
import { explainLease, isTurnedAway } from './explain-loss.ts';
import { explainClock, explainDeadline, explainTime } from './explain-times.ts';
import { findFront } from './front.ts';
import { readFacts, type WhyPorts } from './read-facts.ts';
import type { GateReport, WaitingTask, WaitReason } from './wait-reason.ts';

export interface WaitExplanation {
  status: TaskStatus;
  /** What it waits for now; none once it runs, unless its worker does not renew its lease, and none once it ended. */
  reasons: WaitReason[];
  /** Every gate on its path to a start, in order. */
  gates: GateReport[];
  /** Milliseconds until it will start, or start again; null when unknown. */
  estimatedStartMs: number | null;
}

/** Why a task does not run yet. The fleet moves on, so it may be outdated when it is read. */
export async function explainWait(ports: WhyPorts, task: WaitingTask): Promise<WaitExplanation> {
  const { status, granted, notBefore } = task.state;
  const { ledger } = ports;
  if (isTerminal(status)) return { status, reasons: [], gates: [], estimatedStartMs: null };
  if (status === 'running') return await explainRun(ledger, task);
  if (status === 'scheduled') {
    const gate = await explainAcceptance(ledger, task);
    return { status, reasons: [reasonOf(gate)], gates: [gate], estimatedStartMs: null };
  }
  const [facts, lanes, caps, hold] = await Promise.all([
    readFacts(ports, task),
    explainLanes(ledger, task),
    explainCaps(ledger, task),
    explainHold(ledger, task),
  ]);
  const front = findFront(facts, task);
  const time = hold ?? explainTime(ledger, task, facts.skewMs);
  const parked = [time, ...lanes.gates, ...caps.gates];
  // A task of a paused queue may be held by that.
  const toWorker = explainQueue(facts, task, front).filter(({ gate }) => gate !== hold?.gate);
  // A granted task has one reason: the first of the gates that hold it.
  const closed =
    granted && notBefore === undefined ? toWorker.filter(isClosed).slice(0, 1) : whereItStandsFirst(parked.filter(isClosed), task);
  const gate = closed[0]?.gate ?? null;
  const isUnknown = isTurnedAway(task.state, ledger.settings);
  const startMs = isUnknown ? null : await estimateStart(ledger, { facts, task, front, lanes, caps, gate, hold });
  const gates = [
    time,
    explainClock(task, facts.skewMs),
    ...lanes.gates,
    ...caps.gates,
    ...toWorker,
    explainDeadline(task, facts.skewMs, startMs),
  ];
  return { status, reasons: closed.map(reasonOf), gates, estimatedStartMs: startMs };
}

async function explainRun(ledger: Ledger, task: WaitingTask): Promise<WaitExplanation> {
  const late = await explainLease(ledger, task);
  if (late === null) return { status: 'running', reasons: [], gates: [], estimatedStartMs: null };
  return { status: 'running', reasons: [reasonOf(late.gate)], gates: [late.gate], estimatedStartMs: late.againMs };
}

/** A task that needs several gates stands in the line of one of them. */
function whereItStandsFirst(closed: readonly GateReport[], { state }: WaitingTask): GateReport[] {
  return closed.toSorted((one, other) => Number(other.gate === state.gate) - Number(one.gate === state.gate));
}

function isClosed({ state }: GateReport): boolean {
  return state === 'closed';
}

function reasonOf({ gate, detail, since, until, taskId }: GateReport): WaitReason {
  return { gate, detail, since, until, taskId };
}
