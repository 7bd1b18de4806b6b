import type { WaitGate } from '../../errors/index.ts';
import type { Ledger, RunningTask } from '../../ledger/index.ts';
import { systemClock } from '../../time/index.ts';
import { readBacklog } from '../gates/counted.ts';
import { kindOf, type LinePlace } from '../gates/gate-kinds.ts';
import { estimateByPace } from './pace.ts';
import { type FleetFacts, limitedMs } from './read-facts.ts';
import type { ServiceCosts } from './service-costs.ts';
import { simulateStart } from './simulate-start.ts';
import { type QueueWait, sceneOf } from './start-scene.ts';
import type { TaskFront } from './task-front.ts';
import type { GateReport, WaitingTask } from './wait-reason.ts';

export interface StartFacts {
  facts: FleetFacts;
  task: WaitingTask;
  costs: ServiceCosts;
  front: TaskFront;
  /** What it waits for first, and its place there where that has a line. */
  gate: WaitGate | null;
  place: LinePlace | undefined;
  /** What holds it, if anything does. */
  hold: Pick<GateReport, 'until'> | null;
}

/**
 * Milliseconds until a task will start: its time, its lane, its tenant's caps, and what goes before it into the slots of the workers, by how
 * long tasks hold them. Null when unknown.
 */
export async function estimateStart(ledger: Ledger, start: StartFacts): Promise<number | null> {
  const { facts, task, costs, front, hold } = start;
  if (isUnforeseen(ledger, start)) return null;
  const now = systemClock.now() - facts.skewMs;
  const { notBefore } = task.state;
  // The time of a hold is its bound.
  if (hold !== null) return untilHoldEnds(hold, now);
  if (notBefore !== undefined) return Math.max(0, notBefore - now);
  if (costs.ofTask(task) === null) return await estimateUnmeasured(ledger, start);
  const { line, holdsPlace } = await lineOf(ledger, start, costs);
  const scene = sceneOf(ledger, { facts, task, costs, parts: front.parts, line, holdsPlace });
  if (scene === null) return await estimateUnmeasured(ledger, start);
  const startMs = line === null ? front.startMs : simulateStart(scene).startMs;
  return startMs === null ? null : Math.round(Math.max(startMs, limitedMs(facts.limited, front.inQueue)));
}

/** Nobody knows when a cap of 0 is raised. */
function isUnforeseen(ledger: Ledger, { gate, place }: StartFacts): boolean {
  return kindOf(ledger, gate)?.foreseen === 'never' || place?.limit === 0;
}

/** Null where nobody knows, as of a daemon that is to come. */
function untilHoldEnds({ until }: Pick<GateReport, 'until'>, now: number): number | null {
  return until === null || until <= now ? null : until - now;
}

/** Tasks before it under a cap whose times are looked up; these stand for all. */
const MAX_BEFORE = 50;

type Line = Pick<QueueWait, 'line' | 'holdsPlace'>;

/** The lane or the cap that a task waits for, with those before it that do not run. */
async function lineOf(ledger: Ledger, start: StartFacts, costs: ServiceCosts): Promise<Line> {
  const { facts, task, place } = start;
  const sort = kindOf(ledger, start.gate)?.sort;
  const none = { line: null, holdsPlace: () => false };
  if (place === undefined || (sort !== 'lane' && sort !== 'counted')) return none;
  const { ahead, limit, classes } = place;
  if (limit === null && sort === 'counted') return none;
  const isOwn = (each: RunningTask): boolean => each.tenant === task.body.tenant;
  const holders = new Set(place.holders);
  const holdsPlace = (each: RunningTask): boolean =>
    isOwn(each) && (sort === 'lane' ? holders.has(each.task) : classes.includes(each.state.class));
  const running = facts.running.filter(holdsPlace).length;
  const places = Math.max(1, limit ?? 1);
  if (sort === 'lane') return { line: { places, count: Math.max(0, ahead - running), costsMs: [] }, holdsPlace };
  const before = ahead === 0 ? [] : await readBacklog(ledger, task, classes, MAX_BEFORE);
  const costsMs = before.map((state) => costs.ofTask({ state }) ?? costs.ofRunning());
  return { line: { places, count: ahead + Math.max(0, places - running), costsMs }, holdsPlace };
}

/** By the tenant's last starts: its agents' times are not known yet. */
async function estimateUnmeasured(ledger: Ledger, { task, front, place, gate }: StartFacts): Promise<number | null> {
  const due = { tenant: task.body.tenant, scheduledFor: null };
  const ahead = kindOf(ledger, gate)?.sort === 'counted' ? (place?.ahead ?? 0) : front.inFleet;
  return await estimateByPace(ledger, due, { ahead, gate });
}
