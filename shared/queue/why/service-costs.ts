import type { Ledger } from '../../ledger/index.ts';
import { readFleetCounts, serviceTimeOf, sizeOf, type StoredFamily } from '../../metrics/index.ts';
import { priorityBand } from '../../tasks/index.ts';
import { Recent, systemClock } from '../../time/index.ts';
import type { FrontPart } from './front.ts';
import type { FleetFacts } from './read-facts.ts';
import type { WaitingTask } from './wait-reason.ts';

/** The fleet's counters are many, and pages read them again with every change of a task. */
const FRESH_MS = 2000;

/** An attempt that runs for longer than is known goes on for half as long again. */
const OVERDUE = 1.5;

const recentTimes = new WeakMap<Ledger['redis'], Recent<'fleet', Promise<StoredFamily[]>>>();

/** How long attempts of each queue and band held a slot, some seconds old. */
export async function readFleetTimes({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>): Promise<StoredFamily[]> {
  const recent = recentTimes.get(redis) ?? new Recent<'fleet', Promise<StoredFamily[]>>({ maxEntries: 1, keepMs: FRESH_MS });
  recentTimes.set(redis, recent);
  const known = recent.get('fleet');
  if (known !== undefined) return await known;
  const reading = readFleetCounts({ redis, keys }).then((families) => families.filter(({ family }) => family === 'ran'));
  recent.set('fleet', reading);
  return await reading;
}

type CostFacts = Pick<FleetFacts, 'times' | 'fleetTimes' | 'running' | 'skewMs'>;

/** ServiceCosts is responsible for how long tasks hold a slot, by what the fleet measured. */
export class ServiceCosts {
  readonly #facts: CostFacts;
  readonly #tenant: string;

  /** `times` are those of the tenant. */
  constructor(facts: CostFacts, tenant: string) {
    this.#facts = facts;
    this.#tenant = tenant;
  }

  /**
   * Of a task of the tenant: as its agent's tasks did, else as others of its queue, but no shorter than what of its agent runs for the first
   * time; null when nothing was measured.
   */
  ofTask({ state: { agent, queue, priority } }: Pick<WaitingTask, 'state'>): number | null {
    const measured = serviceTimeOf(this.#facts.times, agent, priorityBand(queue, priority));
    if (measured !== null) return measured;
    const usual = this.#meanOf([queue]) ?? this.#meanOf([]);
    return usual === null ? null : Math.max(usual, this.#longestRun(agent) * OVERDUE);
  }

  /** How long the longest attempt of an agent has run by now, ms; 0 where none runs. */
  #longestRun(agent: string): number {
    const { running, skewMs } = this.#facts;
    const now = systemClock.now() - skewMs;
    const own = running.filter(({ tenant, state }) => tenant === this.#tenant && state.agent === agent);
    return Math.max(0, ...own.map(({ state: { startedAt } }) => now - (startedAt ?? now)));
  }

  /** Of tasks of one queue and priority: as others of both, else of the queue, else of the fleet. */
  ofPart({ queue, priority }: Pick<FrontPart, 'queue' | 'priority'>): number {
    const band = priorityBand(queue, priority);
    return this.#meanOf([queue, band]) ?? this.#meanOf([queue]) ?? this.ofRunning();
  }

  ofRunning(): number {
    return this.#meanOf([]) ?? 0;
  }

  /** The mean of all attempts whose labels begin so. */
  #meanOf(labels: readonly string[]): number | null {
    const ran = this.#facts.fleetTimes.filter(({ labels: each }) => labels.every((label, at) => each[at] === label));
    const count = ran.reduce((sum, { histogram }) => sum + sizeOf(histogram), 0);
    return count === 0 ? null : ran.reduce((sum, { histogram }) => sum + histogram.sumMs, 0) / count;
  }
}
