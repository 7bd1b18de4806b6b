import type { GateSort, WaitGate } from '../../errors/index.ts';
import { type Ledger, readStates } from '../../ledger/index.ts';
import { hasAttempt } from '../../tasks/index.ts';
import { systemClock } from '../../time/index.ts';
import { readBacklog } from '../gates/counted.ts';
import { kindOf, type LinePlace } from '../gates/gate-kinds.ts';
import { type Flow, timeToLastStart } from './drain-model.ts';
import type { TaskFront } from './front.ts';
import { estimateByPace } from './pace.ts';
import { type FleetFacts, limitedMs } from './read-facts.ts';
import { lateRests, restOf } from './rest-of-attempts.ts';
import { ServiceCosts } from './service-costs.ts';
import { waitForSlot } from './slot-supply.ts';
import type { GateReport, WaitingTask } from './wait-reason.ts';

export interface StartFacts {
  facts: FleetFacts;
  task: WaitingTask;
  front: TaskFront;
  /** What it waits for first, and its place there where that has a line. */
  gate: WaitGate | null;
  place: LinePlace | undefined;
  /** What holds it, if anything does. */
  hold: Pick<GateReport, 'until'> | null;
}

/** Of the wait for a slot as it is now, what is left of it on average later: what is in front goes on meanwhile. */
const LATER = 0.5;

/**
 * Milliseconds until a task will start: its time, its lane, its tenant's caps, and what goes before it into the slots of the workers, by how
 * long tasks hold them. Null when unknown.
 */
export async function estimateStart(ledger: Ledger, start: StartFacts): Promise<number | null> {
  const { facts, task, front, hold } = start;
  if (isUnforeseen(ledger, start)) return null;
  const now = systemClock.now() - facts.skewMs;
  const { notBefore } = task.state;
  // The time of a hold is its bound.
  if (hold !== null) return untilHoldEnds(hold, now);
  if (notBefore !== undefined) return Math.max(0, notBefore - now);
  const costs = new ServiceCosts(facts, task.body.tenant);
  const costMs = costs.ofTask(task);
  const slotMs = waitForSlot(ledger, { facts, task, costs, front });
  if (slotMs === null || costMs === null) return await estimateUnmeasured(ledger, start);
  const sort = sortAt(ledger, start);
  if (sort === 'lane') return Math.round(await waitForLane(ledger, start, { costMs, slotMs, costs }));
  const grantMs = sort === 'counted' ? await waitForCap(ledger, start, { costMs, slotMs, costs }) : 0;
  return Math.round(Math.max(grantMs + slotMs * (grantMs > 0 ? LATER : 1), limitedMs(facts.limited, front.inQueue)));
}

/** Nobody knows when a cap of 0 is raised. */
function isUnforeseen(ledger: Ledger, { gate, place }: StartFacts): boolean {
  return kindOf(ledger, gate)?.foreseen === 'never' || place?.limit === 0;
}

function sortAt(ledger: Ledger, { gate }: StartFacts): GateSort | undefined {
  return kindOf(ledger, gate)?.sort;
}

/** Null where nobody knows, as of a daemon that is to come. */
function untilHoldEnds({ until }: Pick<GateReport, 'until'>, now: number): number | null {
  return until === null || until <= now ? null : until - now;
}

/** Tasks before it under a cap whose times are looked up; these stand for all. */
const MAX_BEFORE = 50;

/** Tasks under a full cap wait for a slot and run; as many do so at once as the cap allows. */
async function waitForCap(ledger: Ledger, { facts, task, place }: StartFacts, { costMs, slotMs, costs }: TaskTimes): Promise<number> {
  if (place === undefined || place.limit === null) return 0;
  const { ahead, limit, classes } = place;
  const { tenant } = task.body;
  const before = ahead === 0 ? [] : await readBacklog(ledger, task, classes, MAX_BEFORE);
  const times = before.map((state) => costs.ofTask({ state }) ?? costMs);
  const eachMs = (times.length === 0 ? costMs : sumOf(times) / times.length) + slotMs * LATER;
  const running = facts.running.filter((each) => each.tenant === tenant && classes.includes(each.state.class));
  return timeInPlaces(ahead + 1, { places: limit, eachMs, lateMs: lateRests(running, tenant, costs, facts) });
}

interface Places {
  places: number;
  /** How long each task holds its place, ms. */
  eachMs: number;
  /** Of places that are held for longer: how long they still are. */
  lateMs: readonly number[];
}

/** Milliseconds until so many tasks have started, one after the other, in places that are all held now. */
function timeInPlaces(count: number, { places, eachMs, lateMs }: Places): number {
  const flow: Flow = { queue: 'tasks', weight: 1, segments: [{ band: 'normal', count, costMs: eachMs }] };
  const shares = { high: 1, normal: 1, low: 1 };
  const supply = { slots: places, reserved: 0, free: 0, runningMs: eachMs, lateMs: lateMs.slice(0, places), shares };
  return timeToLastStart(flow, [], supply) ?? 0;
}

/** By the tenant's last starts: its agents' times are not known yet. */
async function estimateUnmeasured(ledger: Ledger, { task, front, place, gate }: StartFacts): Promise<number | null> {
  const due = { tenant: task.body.tenant, scheduledFor: null };
  const ahead = kindOf(ledger, gate)?.sort === 'counted' ? (place?.ahead ?? 0) : front.inFleet;
  return await estimateByPace(ledger, due, { ahead, gate });
}

function sumOf(times: readonly number[]): number {
  return times.reduce((sum, ms) => sum + ms, 0);
}

interface TaskTimes {
  /** How long a task of this kind holds its place, and waits for a slot, ms. */
  costMs: number;
  slotMs: number;
  costs: ServiceCosts;
}

/** Holders of a lane that are read. */
const MAX_HOLDERS = 100;

/** Each task before it in the line waits for a slot and runs; the holders have done a part of that. */
async function waitForLane(ledger: Ledger, start: StartFacts, { costMs, slotMs, costs }: TaskTimes): Promise<number> {
  const { ahead = 0, holders = [], limit = null } = start.place ?? {};
  if (ahead === 0) return slotMs;
  const places = Math.max(1, limit ?? 1);
  const laterMs = slotMs * LATER;
  const states = await readStates(ledger, start.task.body.tenant, holders.slice(0, MAX_HOLDERS));
  const running = states.flatMap((state) => (state && hasAttempt(state.status) ? [{ state }] : []));
  const rests = running.map((each) => restOf(each, costs.ofTask(each) ?? costMs, start.facts));
  const usual = rests.filter((restMs) => restMs <= costMs);
  const lateMs = rests.filter((restMs) => restMs > costMs);
  const eachMs = costMs + laterMs;
  // A holder that does not run yet waits for a slot first.
  const nextMs = lateMs.length >= places ? eachMs : Math.min(costMs + slotMs, ...usual);
  const inLine = Math.max(0, ahead - Math.max(1, Math.min(places, holders.length)));
  return timeInPlaces(inLine + nextMs / eachMs, { places, eachMs, lateMs }) + laterMs;
}
