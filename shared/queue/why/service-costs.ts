import { serviceTimeOf, sizeOf } from '../../metrics/index.ts';
import { priorityBand } from '../../tasks/index.ts';
import type { FrontPart } from './front.ts';
import type { FleetFacts } from './read-facts.ts';
import type { WaitingTask } from './wait-reason.ts';

/** ServiceCosts is responsible for how long tasks hold a slot, by what the fleet measured. */
export class ServiceCosts {
  readonly #facts: Pick<FleetFacts, 'times' | 'fleetTimes'>;

  constructor(facts: Pick<FleetFacts, 'times' | 'fleetTimes'>) {
    this.#facts = facts;
  }

  /** Of a task: as its agent's tasks did, else as others of its queue; null when nothing was measured. */
  ofTask({ state: { agent, queue, priority } }: WaitingTask): number | null {
    return serviceTimeOf(this.#facts.times, agent, priorityBand(queue, priority)) ?? this.#meanOf([queue]) ?? this.#meanOf([]);
  }

  /** Of tasks of one queue and priority: as others of both, else of the queue, else of the fleet. */
  ofPart({ queue, priority }: FrontPart): number {
    const band = priorityBand(queue, priority);
    return this.#meanOf([queue, band]) ?? this.#meanOf([queue]) ?? this.ofRunning();
  }

  ofRunning(): number {
    return this.#meanOf([]) ?? 0;
  }

  /** The mean of all attempts whose labels begin so. */
  #meanOf(labels: readonly string[]): number | null {
    const ran = this.#facts.fleetTimes.filter(
      ({ family, labels: each }) => family === 'ran' && labels.every((label, at) => each[at] === label),
    );
    const count = ran.reduce((sum, { histogram }) => sum + sizeOf(histogram), 0);
    return count === 0 ? null : ran.reduce((sum, { histogram }) => sum + histogram.sumMs, 0) / count;
  }
}
