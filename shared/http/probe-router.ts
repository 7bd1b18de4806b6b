import { Router } from 'express';
import { Registry } from 'prom-client';
import { LATE, within } from '../time/wait.ts';

export interface ProbeOptions {
  /** What keeps this process from taking work; nothing when it is ready. */
  readiness: () => Promise<string[]>;
  registries: Registry[];
}

/** Probes are asked every few seconds and given up by those who ask after a few. */
const READINESS_MS = 1500;

/** `/healthz`: the process is up. `/readyz`: it can take work. `/metrics`: Prometheus text. None needs a key. */
export function probeRouter({ readiness, registries }: ProbeOptions): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => {
    response.json({ ok: true });
  });
  router.get('/readyz', async (_request, response) => {
    const problems = await within(readiness(), READINESS_MS).catch((error: unknown) => [String(error)]);
    const named = problems === LATE ? ['the checks did not end in time'] : problems;
    response
      .status(named.length === 0 ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ ok: named.length === 0, problems: named });
  });
  router.get('/metrics', async (_request, response) => {
    // Merged anew each time: what was registered since is there too.
    const all = Registry.merge(registries);
    response.type(all.contentType).send(await all.metrics());
  });
  return router;
}
