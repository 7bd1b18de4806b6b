import type * as SdkTrace from '@opentelemetry/sdk-trace';
import { type Environment, installedVersion } from '../../config/index.ts';
import { within } from '../../time/index.ts';
import type { Log } from '../create-log.ts';
import { GivenIds } from './given-ids.ts';
import { CountingExporter, SpanQueue } from './span-queue.ts';
import { Traces } from './traces.ts';

/** What a stop waits for the collector to take the last spans. */
const CLOSE_MS = 2000;
/** Spans that are sent together. */
const MAX_BATCH = 512;

type Sdk = typeof SdkTrace;

/** Whether spans are recorded: something says where they go, and nothing that they are off. */
export function isTraced(env: Environment): boolean {
  return !env.OTEL_SDK_DISABLED && env.OTEL_TRACES_EXPORTER !== 'none' && endpointOf(env) !== undefined;
}

function endpointOf(env: Environment): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: all } = env;
  return own ?? (all === undefined ? undefined : `${all.replace(/\/+$/, '')}/v1/traces`);
}

interface OpenTracesOptions {
  env: Environment;
  /** The service whose process this is; `local` for all of them in one. */
  service: string;
  log: Log;
}

/** Loads OpenTelemetry and sends spans by OTLP over HTTP, as its variables say. Undefined, with nothing loaded, where no endpoint is set. */
export async function openTraces({ env, service, log }: OpenTracesOptions): Promise<Traces | undefined> {
  if (!isTraced(env)) return undefined;
  const [api, sdk, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/resources'),
  ]);
  const counts = { sent: 0, refused: 0, dropped: 0 };
  const headers = { ...env.OTEL_EXPORTER_OTLP_HEADERS, ...env.OTEL_EXPORTER_OTLP_TRACES_HEADERS };
  const otlp = new OTLPTraceExporter({ url: endpointOf(env) ?? '', headers });
  const exporter = new CountingExporter(otlp, counts, (error) => logChange(log, error));
  const maxOpen = env.OTEL_BSP_MAX_QUEUE_SIZE;
  const batches = new sdk.BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: maxOpen,
    maxExportBatchSize: Math.min(MAX_BATCH, maxOpen),
  });
  const ids = new GivenIds(new sdk.RandomIdGenerator());
  const provider = new sdk.TracerProvider({
    sampler: samplerOf(sdk, env),
    idGenerator: ids,
    resource: resourceFromAttributes(resourceOf(env, service)),
    spanProcessors: [new SpanQueue({ batches, exporter, counts, maxOpen })],
  });
  // So that spans of agents' own code stand below those of their attempts. A program that has set its own keeps them.
  const isOwnContext = api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const isOwnProvider = api.trace.setGlobalTracerProvider(provider);
  const close = async (): Promise<void> => {
    await within(provider.shutdown(), CLOSE_MS).catch((error: unknown) => log.debug({ err: error }, 'the last spans were not taken'));
    if (isOwnProvider) api.trace.disable();
    if (isOwnContext) api.context.disable();
  };
  return new Traces({ api, tracer: provider.getTracer('muster', installedVersion()), ids, counts, close });
}

function resourceOf({ OTEL_RESOURCE_ATTRIBUTES: given, OTEL_SERVICE_NAME: name }: Environment, service: string): Record<string, string> {
  return {
    'service.name': service === 'local' ? 'muster' : `muster-${service}`,
    'service.version': installedVersion(),
    ...given,
    ...(name !== undefined && { 'service.name': name }),
  };
}

function samplerOf(sdk: Sdk, { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Environment): SdkTrace.Sampler {
  const root = rootSampler(sdk, name.replace('parentbased_', ''), ratio);
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function rootSampler(sdk: Sdk, name: string, ratio: number): SdkTrace.Sampler {
  if (name === 'always_on') return new sdk.AlwaysOnSampler();
  return name === 'always_off' ? new sdk.AlwaysOffSampler() : new sdk.TraceIdRatioBasedSampler(ratio);
}

function logChange(log: Log, error: Error | null): void {
  if (error === null) log.info({ event: 'traces.sent' }, 'The collector takes spans again');
  else log.warn({ event: 'traces.refused', reason: error.message }, 'The collector does not take spans; tasks go on without');
}
