import { createDaemon } from '#shared/daemons/daemon-store.ts';
import type { Registration } from '#shared/daemons/daemon.ts';
import { startHttpServer } from '#shared/http/start-http-server.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { serve } from '#shared/lifecycle/service.ts';
import { createHubService } from '../../../services/hub/create-hub-service.ts';

export interface TestHub {
  readonly url: string;
  stop(graceMs?: number): Promise<void>;
}

/** A hub of its own in this process, behind the fleet's HTTP server. */
export async function startHub(parts: Parts): Promise<TestHub> {
  const served = await serve({
    config: { ...parts.config, env: { ...parts.config.env, HOST: '127.0.0.1', PORT: 0 } },
    log: parts.log,
    services: [createHubService(parts)],
    startHttpServer,
    redisProblems: () => Promise.resolve([]),
  });
  return { url: `http://127.0.0.1:${served.port}/hub`, stop: (graceMs = 2000) => served.stop(graceMs) };
}

let count = 0;

/** Registers a daemon that may do whatever it declares. */
export async function registerDaemon(
  parts: Parts,
  wish: Partial<Registration> & { tenant?: string } = {},
): Promise<{ id: string; token: string }> {
  count += 1;
  const { tenant = 'default', ...registration } = wish;
  const { daemon, token } = await createDaemon(
    parts,
    { tenant, name: `daemon-${count}`, user: null, capabilities: null, slots: null, agents: null, enabled: true, ...registration },
    1000,
  );
  return { id: daemon.id, token };
}
