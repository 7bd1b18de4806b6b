import type { WaitGate } from '../../errors/index.ts';
import { holdKind, type Ledger } from '../../ledger/index.ts';
import { isTerminal, type TaskStatus } from '../../tasks/index.ts';
import { explainClock } from '../gates/clock.ts';
import { placeAt } from '../gates/counted.ts';
import { explainDeadline } from '../gates/deadline.ts';
import { countedKinds, laneKinds, type LinePlace, slotKinds, timeKind } from '../gates/gate-kinds.ts';
import { explainLease } from '../gates/suspect.ts';
import { estimateStart } from './estimate-start.ts';
import { type FleetFacts, readFacts, type WhyPorts } from './read-facts.ts';
import { explainAsking, explainHold, explainTime } from './standing.ts';
import { ServiceCosts } from './service-costs.ts';
import { findFront, type TaskFront } from './task-front.ts';
import { closedGate, type GateReport, type WaitingTask, type WaitReason } from './wait-reason.ts';

export interface WaitExplanation {
  status: TaskStatus;
  /** What it waits for now; none once it runs, unless it asks people or its worker does not renew its lease, and none once it ended. */
  reasons: WaitReason[];
  /** Every gate on its path to a start, in order. */
  gates: GateReport[];
  /** Milliseconds until it will start, or start again; null when unknown. */
  estimatedStartMs: number | null;
  /** How often in a row workers that shut down interrupted it, and it starts over each time. */
  interruptions: number;
}

/** Why a task does not run yet. The fleet moves on, so it may be outdated when it is read. */
export async function explainWait(ports: WhyPorts, task: WaitingTask): Promise<WaitExplanation> {
  const explained = await explainStatus(ports, task);
  return { ...explained, interruptions: task.state.interruptions ?? 0 };
}

type Explained = Omit<WaitExplanation, 'interruptions'>;

async function explainStatus(ports: WhyPorts, task: WaitingTask): Promise<Explained> {
  const { status } = task.state;
  if (isTerminal(status)) return { status, reasons: [], gates: [], estimatedStartMs: null };
  if (status === 'running') return await explainRun(ports.ledger, task);
  return status === 'scheduled' ? await explainGiven(ports.ledger, task) : await explainPath(ports, task);
}

async function explainPath(ports: WhyPorts, task: WaitingTask): Promise<Explained> {
  const { status, granted, notBefore, gate: standsAt } = task.state;
  const { ledger } = ports;
  const [facts, places, hold] = await Promise.all([readFacts(ports, task), readPlaces(ledger, task), explainHold(ledger, task)]);
  const costs = new ServiceCosts(facts, task.body.tenant);
  const front = findFront(ledger, facts, { task, costs });
  const time = hold ?? explainTime(ledger, task, facts.skewMs);
  const inLines = [...places.values()].flatMap(({ gates }) => gates);
  // A task of a paused queue may be held by that.
  const toWorker = explainSlot(ledger, { facts, task, front }).filter(({ gate }) => gate !== hold?.gate);
  // A granted task has one reason: the first of the gates that hold it.
  const closed =
    granted && notBefore === undefined
      ? toWorker.filter(isClosed).slice(0, 1)
      : whereItStandsFirst([time, ...inLines].filter(isClosed), standsAt);
  const gate = closed[0]?.gate ?? null;
  const place = gate === null ? undefined : places.get(gate);
  const isUnknown = timeKind(ledger, standsAt)?.isUnknown?.(task.state, ledger) === true;
  const startMs = isUnknown ? null : await estimateStart(ledger, { facts, task, costs, front, place, gate, hold });
  const gates = [time, explainClock(task, facts.skewMs), ...inLines, ...toWorker, explainDeadline(task, facts.skewMs, startMs)];
  return { status, reasons: closed.map(reasonOf), gates, estimatedStartMs: startMs };
}

/** Where a task stands in its lanes, and then under its caps, by gate. */
async function readPlaces(ledger: Ledger, task: WaitingTask): Promise<ReadonlyMap<WaitGate, LinePlace>> {
  const lanes = laneKinds(ledger).map(async (kind) => [kind.gate, await kind.place(ledger, task)] as const);
  const counted = countedKinds(ledger).map(async (kind) => [kind.gate, await placeAt(ledger, task, kind)] as const);
  return new Map(await Promise.all([...lanes, ...counted]));
}

/** The gates between a task's grant and its start, in the order in which a reason is looked for. */
function explainSlot(ledger: Ledger, at: { facts: FleetFacts; task: WaitingTask; front: TaskFront }): GateReport[] {
  const gates: GateReport[] = [];
  for (const kind of slotKinds(ledger)) gates.push(kind.atSlot({ ...at, isHeld: gates.some(isClosed) }));
  return gates;
}

async function explainRun(ledger: Ledger, task: WaitingTask): Promise<Explained> {
  const [late, asking] = await Promise.all([explainLease(ledger, task), explainAsking(ledger, task)]);
  const gates = [late?.gate ?? null, asking].filter((gate) => gate !== null);
  return { status: 'running', reasons: gates.map(reasonOf), gates, estimatedStartMs: late?.againMs ?? null };
}

/** Of a task that was given to a daemon, which has not accepted it. */
async function explainGiven(ledger: Ledger, { body: { tenant }, state }: WaitingTask): Promise<Explained> {
  const given = await holdKind(ledger, 'daemon')?.explainGiven?.(tenant, state);
  const gates = given === undefined ? [] : [closedGate('daemon', given)];
  return { status: state.status, reasons: gates.map(reasonOf), gates, estimatedStartMs: null };
}

/** A task that needs several gates stands in the line of one of them. */
function whereItStandsFirst(closed: readonly GateReport[], standsAt: WaitGate | undefined): GateReport[] {
  return closed.toSorted((one, other) => Number(other.gate === standsAt) - Number(one.gate === standsAt));
}

function isClosed({ state }: GateReport): boolean {
  return state === 'closed';
}

function reasonOf({ gate, detail, since, until, taskId }: GateReport): WaitReason {
  return { gate, detail, since, until, taskId };
}
