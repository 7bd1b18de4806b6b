import type { BatchSpanProcessor, ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

/** What became of spans. */
export interface SpanCounts {
  /** Taken by the collector. */
  sent: number;
  /** Not taken by it, after the exporter's own tries. */
  refused: number;
  /** Not kept, because too many wait already. */
  dropped: number;
}

type Sent = Parameters<SpanExporter['export']>[1];

/** CountingExporter is responsible for how many spans the collector took, and for saying once when it begins or ceases to take none. */
export class CountingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #counts: SpanCounts;
  readonly #onChange: (error: Error | null) => void;
  #isRefused = false;
  /** Spans that are on their way. */
  onEnded: (count: number) => void = () => undefined;

  constructor(exporter: SpanExporter, counts: SpanCounts, onChange: (error: Error | null) => void) {
    this.#exporter = exporter;
    this.#counts = counts;
    this.#onChange = onChange;
  }

  export(spans: ReadableSpan[], done: Sent): void {
    this.#exporter.export(spans, (result) => {
      this.onEnded(spans.length);
      const code: number = result.code;
      const isRefused = code !== SUCCESS;
      this.#counts[isRefused ? 'refused' : 'sent'] += spans.length;
      if (isRefused !== this.#isRefused) this.#onChange(isRefused ? (result.error ?? new Error('it refused them')) : null);
      this.#isRefused = isRefused;
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  async shutdown(): Promise<void> {
    await this.#exporter.shutdown();
  }
}

/** `ExportResultCode.SUCCESS` of the library. */
const SUCCESS = 0;

/** SpanQueue is responsible for the bound of spans that wait for the collector or are on their way to it: what is beyond it is dropped and counted. */
export class SpanQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #counts: SpanCounts;
  readonly #maxOpen: number;
  #open = 0;

  constructor({
    batches,
    exporter,
    counts,
    maxOpen,
  }: {
    batches: BatchSpanProcessor;
    exporter: CountingExporter;
    counts: SpanCounts;
    maxOpen: number;
  }) {
    this.#batches = batches;
    this.#counts = counts;
    this.#maxOpen = maxOpen;
    exporter.onEnded = (count) => {
      this.#open -= count;
    };
  }

  onStart(): void {
    // Spans are counted at their end.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#open >= this.#maxOpen) {
      this.#counts.dropped += 1;
      return;
    }
    this.#open += 1;
    this.#batches.onEnd(span);
  }

  async forceFlush(): Promise<void> {
    await this.#batches.forceFlush();
  }

  async shutdown(): Promise<void> {
    await this.#batches.shutdown();
  }
}
