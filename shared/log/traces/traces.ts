import type { Context, SpanKind, Tracer } from '@opentelemetry/api';
import { runAsSpan } from './active-span.ts';
import type { GivenIds } from './given-ids.ts';
import { type Api, known, linksTo, Span, type SpanAttributes, spanContextOf } from './span.ts';
import type { SpanCounts } from './span-queue.ts';
import { isSampled, parseTraceparent } from './traceparent.ts';

export interface SpanOptions {
  /** W3C trace context of what it stands below; by default of the span whose code runs, null for nothing. */
  parent?: string | null | undefined;
  /** Its own W3C trace context, where others know that before it starts; by default a new one. */
  as?: string | undefined;
  /** What it is to others; by default work inside of this process. */
  kind?: 'server' | 'client' | 'consumer' | undefined;
  /** W3C trace contexts of spans that led to it, besides its parent. */
  links?: readonly string[];
  attributes?: SpanAttributes;
  /** When it began, ms since the epoch; by default now. */
  startedAt?: number | undefined;
}

export interface TracesOptions {
  api: Api;
  tracer: Tracer;
  ids: GivenIds;
  counts: SpanCounts;
  /** Sends what is left, within a bound. Never rejects. */
  close: () => Promise<void>;
}

/**
 * Traces is responsible for the spans of one process. There is one only where `OTEL_EXPORTER_OTLP_ENDPOINT` says where spans go; what works without it does
 * nothing else.
 */
export class Traces {
  readonly #options: TracesOptions;

  constructor(options: TracesOptions) {
    this.#options = options;
  }

  /** How many spans were sent, refused and dropped. */
  get counts(): Readonly<SpanCounts> {
    return this.#options.counts;
  }

  /** Starts the first span of a trace in this fleet: here it is decided whether the trace is recorded, by `OTEL_TRACES_SAMPLER`. */
  enter(name: string, options: SpanOptions = {}): Span {
    return this.#open(name, options);
  }

  /** Starts a span below another one. Undefined in a trace that is not recorded, and outside of any. */
  start(name: string, options: SpanOptions = {}): Span | undefined {
    if (!this.#isRecorded(options.parent)) return undefined;
    return this.#open(name, options);
  }

  /** Does work as a span, where its trace is recorded. `codeOf`: the code of what it rejects with. */
  async run<T>(name: string, options: SpanOptions & { codeOf: (error: unknown) => string }, work: () => Promise<T>): Promise<T> {
    const span = this.start(name, options);
    if (span === undefined) return await work();
    try {
      return await span.run(work);
    } catch (error) {
      span.fail(options.codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** Runs work that belongs to no span, also where one has led to it. */
  outside<T>(work: () => T): T {
    const { context, ROOT_CONTEXT } = this.#options.api;
    return runAsSpan(undefined, () => context.with(ROOT_CONTEXT, work));
  }

  async close(): Promise<void> {
    await this.#options.close();
  }

  #isRecorded(parent: SpanOptions['parent']): boolean {
    const { api } = this.#options;
    if (parent !== undefined) return parseTraceparent(parent ?? '')?.isSampled ?? false;
    return isSampled(api.trace.getSpanContext(api.context.active())?.traceFlags ?? 0);
  }

  #open(name: string, { parent, as, kind, links = [], attributes = {}, startedAt }: SpanOptions): Span {
    const { api, tracer, ids } = this.#options;
    const options = {
      kind: kindOf(api, kind),
      links: linksTo(api, links),
      attributes: known(attributes),
      ...(startedAt !== undefined && { startTime: startedAt }),
    };
    const started = ids.use(as, () => tracer.startSpan(name, options, this.#contextOf(parent)));
    return new Span(api, started);
  }

  #contextOf(parent: SpanOptions['parent']): Context {
    const { api } = this.#options;
    if (parent === undefined) return api.context.active();
    const context = spanContextOf(api, parent ?? '');
    return context === null ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, context);
  }
}

function kindOf({ SpanKind }: Api, kind: SpanOptions['kind']): SpanKind {
  const { INTERNAL, SERVER, CLIENT, CONSUMER } = SpanKind;
  return kind === undefined ? INTERNAL : { server: SERVER, client: CLIENT, consumer: CONSUMER }[kind];
}
