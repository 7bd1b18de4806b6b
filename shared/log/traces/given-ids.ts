import type { IdGenerator } from '@opentelemetry/sdk-trace';
import { parseTraceparent } from './traceparent.ts';

/** GivenIds is responsible for the ids of spans: those that others know already, else random ones. */
export class GivenIds implements IdGenerator {
  readonly #random: IdGenerator;
  #given: ReturnType<typeof parseTraceparent> = null;

  constructor(random: IdGenerator) {
    this.#random = random;
  }

  /** Starts a span with the ids in a W3C trace context. */
  use<T>(traceparent: string | undefined, start: () => T): T {
    this.#given = traceparent === undefined ? null : parseTraceparent(traceparent);
    try {
      return start();
    } finally {
      this.#given = null;
    }
  }

  readonly generateTraceId = (): string => this.#given?.traceId ?? this.#random.generateTraceId();

  readonly generateSpanId = (): string => this.#given?.spanId ?? this.#random.generateSpanId();
}
