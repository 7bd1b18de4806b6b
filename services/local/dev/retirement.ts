import type { Service } from '#shared/lifecycle/index.ts';
import type { LocalServices } from '../fleet/start-local-fleet.ts';

/**
 * Retirement is responsible for the end of a fleet whose successor runs already: it takes no request, message or time any more, while
 * what it runs may end in its own time.
 */
export class Retirement {
  readonly #graceMs: number;
  readonly #hurry = Promise.withResolvers<void>();
  #fronts: readonly Service[] = [];
  #isRetiring = false;

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** The services in the order of their start. */
  arrange({ fronts, worker }: LocalServices): readonly Service[] {
    this.#fronts = fronts.map((front) => stopOnce(front));
    const last: Service = {
      name: worker.name,
      start: () => worker.start(),
      problems: () => worker.problems?.() ?? [],
      stop: async (graceMs) => {
        if (this.#isRetiring) await Promise.race([worker.drain(), this.#hurry.promise]);
        await worker.stop(Math.min(graceMs, this.#graceMs));
      },
    };
    return [...this.#fronts, last];
  }

  /** Call it just before the fleet is stopped. */
  begin(): void {
    this.#isRetiring = true;
    for (const front of this.#fronts) void front.stop(this.#graceMs);
  }

  /** What still runs gets the grace of any stop. */
  hurry(): void {
    this.#hurry.resolve();
  }
}

/** A second stop waits for the first. */
function stopOnce(service: Service): Service {
  let stopping: Promise<void> | undefined;
  const { name, router, upgrade, registry } = service;
  return {
    name,
    ...(router && { router }),
    ...(upgrade && { upgrade }),
    ...(registry && { registry }),
    start: () => service.start(),
    problems: () => service.problems?.() ?? [],
    stop: (graceMs) => (stopping ??= service.stop(graceMs)),
  };
}
