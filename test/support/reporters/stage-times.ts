/** What ran before the tests: when the first stage began, in ms since the epoch, and the seconds of each. */
export interface EarlierStages {
  startedAt: number;
  took: Record<string, number>;
}

/** StageTimes is responsible for how long each stage of a check took; the projects of the tests run one after the other. */
export class StageTimes {
  readonly #earlier: EarlierStages;
  /** When each project began, in ms since the epoch. */
  readonly #begun = new Map<string, number>();

  constructor(earlier: EarlierStages) {
    this.#earlier = earlier;
  }

  /** Notes that a file of a project begins. */
  enter(project: string, now: number): void {
    if (!this.#begun.has(project)) this.#begun.set(project, now);
  }

  /** One line with every stage, and the time of all. */
  line(now: number): string {
    const begun = [...this.#begun];
    const projects = begun.map(([name, from], at) => [name, ((begun[at + 1]?.[1] ?? now) - from) / 1000] as const);
    const stages = [...Object.entries(this.#earlier.took), ...projects].map(([name, seconds]) => `${name} ${clock(seconds)}`);
    return `${stages.join(', ')}; in all ${clock((now - this.#earlier.startedAt) / 1000)}`;
  }
}

function clock(seconds: number): string {
  const rounded = Math.round(seconds);
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
}
