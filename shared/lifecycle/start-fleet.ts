import type { Config } from '../config/load-config.ts';
import { startHttpServer } from '../http/start-http-server.ts';
import type { Log } from '../log/create-log.ts';
import { openParts, type Parts } from './open-parts.ts';
import { serve, type Served } from './serve.ts';
import type { Service } from './service.ts';

export interface StartFleetOptions {
  /** Names the connections to Redis. */
  name: string;
  config: Config;
  log: Log;
  /** The services of this process, in the order in which they start. */
  create: (parts: Parts) => readonly Service[];
  /** Done once Redis can be used and before any service starts. */
  prepare?: (parts: Parts) => Promise<void>;
}

/** Opens the connections, starts the services and the server in front of them; closes again what it opened when that fails. */
export async function startFleet({ name, config, log, create, prepare }: StartFleetOptions): Promise<Served> {
  const parts = await openParts({ config, log, service: name });
  try {
    await prepare?.(parts);
    const served = await serve({ config, log, services: create(parts), startHttpServer, isRedisUp: () => isRedisUp(parts) });
    return {
      port: served.port,
      stop: async (graceMs) => {
        await served.stop(graceMs);
        await parts.close();
      },
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
}

async function isRedisUp({ redis }: Pick<Parts, 'redis'>): Promise<boolean> {
  return redis.ping().then(
    () => true,
    () => false,
  );
}
