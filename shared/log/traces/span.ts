import type * as OpenTelemetry from '@opentelemetry/api';
import { runAsSpan } from './active-span.ts';
import { isSampled, parseTraceparent } from './traceparent.ts';

/** The library, which is loaded only where spans are sent. */
export type Api = typeof OpenTelemetry;

/** Names as OpenTelemetry's conventions have them, and `muster.*`. Never what people or models wrote. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Span is responsible for one span from its start to its end. One that is not recorded does nothing, but it has a trace context all the same. */
export class Span {
  readonly traceparent: string;
  readonly #api: Api;
  readonly #span: OpenTelemetry.Span;

  constructor(api: Api, span: OpenTelemetry.Span) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-${isSampled(traceFlags) ? '01' : '00'}`;
    this.#api = api;
    this.#span = span;
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(known(attributes));
  }

  /** Names other spans that led to this one, by their trace contexts. */
  link(traceparents: readonly string[]): void {
    for (const link of linksTo(this.#api, traceparents)) this.#span.addLink(link);
  }

  /** It failed, with a code: messages may hold what people wrote. */
  fail(code: string): void {
    this.#span.setAttribute('error.type', code);
    this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
  }

  /** `at`: ms since the epoch, by default now. */
  end(at?: number): void {
    this.#span.end(at);
  }

  /** Runs work whose spans stand below this one, and whose lines of the log name it where it is recorded. */
  run<T>(work: () => T): T {
    const { context, trace } = this.#api;
    return runAsSpan(this.isRecorded ? this.traceparent : undefined, () => context.with(trace.setSpan(context.active(), this.#span), work));
  }
}

export function linksTo(api: Api, traceparents: readonly string[]): OpenTelemetry.Link[] {
  return traceparents.flatMap((each) => {
    const context = spanContextOf(api, each);
    return context === null ? [] : [{ context }];
  });
}

export function spanContextOf(api: Api, traceparent: string): OpenTelemetry.SpanContext | null {
  const parsed = parseTraceparent(traceparent);
  if (parsed === null) return null;
  const { traceId, spanId } = parsed;
  return { traceId, spanId, traceFlags: parsed.isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE, isRemote: true };
}

export function known(attributes: SpanAttributes): OpenTelemetry.Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
