import { Router } from 'express';
import { Gauge, Registry } from 'prom-client';
import { z } from 'zod';
import type { Log } from '../log/index.ts';
import { LATE, withinAttentive } from '../time/index.ts';
import { rememberRoutes, type RouteDescription } from './route.ts';

/** What keeps a process from taking work: its start or stop, or problems as text; none when it is ready. */
export type Readiness = 'starting' | 'shutting down' | readonly string[];

export interface ProbeOptions {
  readiness: () => Promise<Readiness>;
  /** What is wrong although it can take work; by default nothing. */
  warnings?: (() => readonly string[]) | undefined;
  registries: Registry[];
  log: Log;
}

/** Orchestrators probe every few seconds and give up after a few. */
const READINESS_MS = 1500;

const readinessSchema = z
  .strictObject({
    ok: z.boolean().meta({ description: 'Whether it can take work.' }),
    problems: z.array(z.string()).meta({ description: 'What keeps it from that.' }),
    warnings: z.array(z.string()).optional().meta({
      description: 'What is wrong although it can, as a full memory that the API has to be reached for; absent where nothing is.',
    }),
  })
  .meta({ id: 'Readiness' });
const healthSchema = z.strictObject({ ok: z.literal(true).meta({ description: 'It is up.' }) }).meta({ id: 'Health' });
const PROBE = { method: 'get', tag: 'probes', scope: 'none' } as const;

const PROBES: readonly RouteDescription[] = [
  { ...PROBE, path: '/healthz', operationId: 'getHealth', summary: 'Whether this process is up', responses: { 200: healthSchema } },
  {
    ...PROBE,
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Whether this process can take work',
    responses: { 200: readinessSchema, 503: readinessSchema.describe('It cannot, and this is why.') },
  },
  {
    ...PROBE,
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Metrics of this process, as Prometheus reads them',
    media: 'text/plain',
    responses: { 200: z.string() },
  },
];

/** `/healthz`: the process is up. `/readyz`: it can take work. `/metrics`: Prometheus text. None needs a key. */
export function probeRouter({ readiness, warnings = () => [], registries, log }: ProbeOptions): Router {
  const watch = new ReadinessWatch(log);
  const own = readinessMetrics(readiness);
  const router = Router();
  router.get('/healthz', (_request, response) => {
    response.json({ ok: true });
  });
  router.get('/readyz', async (_request, response) => {
    const found = await look(readiness);
    watch.note(found);
    const problems = typeof found === 'string' ? [found] : found;
    const others = warnings();
    response
      .status(problems.length === 0 ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ ok: problems.length === 0, problems, ...(others.length === 0 ? {} : { warnings: others }) });
  });
  router.get('/metrics', async (_request, response) => {
    // Merged each time, because other metrics may have been registered since.
    const all = Registry.merge([...registries, own]);
    response.type(all.contentType).send(await all.metrics());
  });
  rememberRoutes(router, PROBES);
  return router;
}

async function look(readiness: ProbeOptions['readiness']): Promise<Readiness> {
  const answer = await withinAttentive(readiness(), READINESS_MS).catch((error: unknown) => [String(error)]);
  return answer === LATE ? ['the checks did not end in time'] : answer;
}

/** What `/readyz` says, for whoever reads only `/metrics`. */
function readinessMetrics(readiness: ProbeOptions['readiness']): Registry {
  const registry = new Registry();
  const gauge = new Gauge({
    name: 'muster_process_ready',
    help: 'Whether this process can take work: 1, else 0',
    registers: [registry],
    collect: async () => {
      const found = await look(readiness);
      gauge.set(typeof found !== 'string' && found.length === 0 ? 1 : 0);
    },
  });
  return registry;
}

/** ReadinessWatch is responsible for logging once that a process stopped being ready, and once that it is ready again. */
class ReadinessWatch {
  readonly #log: Log;
  #isReady = true;

  constructor(log: Log) {
    this.#log = log;
  }

  note(found: Readiness): void {
    if (typeof found === 'string') {
      this.#log.debug({ event: 'process.not-ready', reason: found }, 'not ready');
      return;
    }
    const wasReady = this.#isReady;
    this.#isReady = found.length === 0;
    if (this.#isReady === wasReady) return;
    if (this.#isReady) this.#log.info({ event: 'process.ready' }, 'ready again');
    else this.#log.warn({ event: 'process.not-ready', reason: found.join('; ') }, 'not ready: it can take no work');
  }
}
