import { AsyncLocalStorage } from 'node:async_hooks';
import { parseTraceparent } from './traceparent.ts';

/** The W3C trace context of the span whose code runs. */
const active = new AsyncLocalStorage<string | undefined>();

/** The W3C trace context of the span whose code runs now; undefined outside of any that is recorded. */
export function activeTraceparent(): string | undefined {
  return active.getStore();
}

/** Runs work so that all its code, now or later, belongs to a span, or to none. */
export function runAsSpan<T>(traceparent: string | undefined, work: () => T): T {
  return active.run(traceparent, work);
}

/** What a line of the log says of the span whose code writes it. */
export function spanFields(): Record<string, string> {
  const span = parseTraceparent(active.getStore() ?? '');
  return span === null ? {} : { trace_id: span.traceId, span_id: span.spanId };
}
