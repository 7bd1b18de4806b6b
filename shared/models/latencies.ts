import type { Clock } from '../time/index.ts';

/** Fewer durations do not tell the slowest twentieth. */
const MIN_CALLS = 20;
const MAX_CALLS = 200;
/** Older ones count no more, so that a slow model is tried again. */
const WINDOW_MS = 300_000;
const SHARE = 0.95;
/** Models whose latencies are kept. */
const MAX_MODELS = 500;

interface Sample {
  at: number;
  ms: number;
}

/** Latencies is responsible for how long the models that this process calls take until their answers begin. */
export class Latencies {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #samples = new Map<string, Sample[]>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Notes the call of a model whose answer began after so long. */
  add(model: string, ms: number): void {
    const samples = this.#samples.get(model) ?? [];
    samples.push({ at: this.#clock.monotonic(), ms });
    if (samples.length > MAX_CALLS) samples.shift();
    this.#samples.delete(model);
    this.#samples.set(model, samples);
    const [oldest] = this.#samples.keys();
    if (this.#samples.size > MAX_MODELS && oldest !== undefined) this.#samples.delete(oldest);
  }

  /** Within this, 95 of 100 answers of the last minutes began; null while too few are known. */
  p95(model: string): number | null {
    const since = this.#clock.monotonic() - WINDOW_MS;
    const samples = (this.#samples.get(model) ?? []).filter(({ at }) => at > since);
    if (samples.length < MIN_CALLS) return null;
    const sorted = samples.map(({ ms }) => ms).toSorted((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * SHARE) - 1] ?? null;
  }
}
