/** What a process says of itself: the log, JSON lines by pino with secrets redacted, and traces, spans by OpenTelemetry where an endpoint is set. */
export { type Log, createLocalLog, createLog } from './create-log.ts';
export { gatherStdout } from './line-gatherer.ts';
export { isLostReader } from './stdout-writer.ts';
export { attemptTraceparent, childTraceparent, parseTraceparent, traceIdOf, traceparentFor, traceparentOf } from './traces/traceparent.ts';
export { activeTraceparent } from './traces/active-span.ts';
export { isTraced, openTraces } from './traces/open-traces.ts';
export type { Span, SpanAttributes } from './traces/span.ts';
export type { Traces } from './traces/traces.ts';
