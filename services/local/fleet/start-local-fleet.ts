import type { Config } from '#shared/config/index.ts';
import { type Parts, type Service, startFleet } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import { SignInLinks } from '#shared/tenants/index.ts';
import { createApiService } from '../../api/create-api-service.ts';
import { createChatService } from '../../chat/create-chat-service.ts';
import { createDashboardService } from '../../dashboard/create-dashboard-service.ts';
import { createHubService } from '../../hub/create-hub-service.ts';
import { createSchedulerService } from '../../scheduler/create-scheduler-service.ts';
import { createWebhooksService } from '../../webhooks/create-webhooks-service.ts';
import { createWorkerService, type DrainableService } from '../../worker/create-worker-service.ts';
import { Installation } from './installation.ts';
import type { LocalRedis } from '../redis/local-redis.ts';

export interface LocalFleetOptions {
  config: Config;
  log: Log;
  redis: LocalRedis;
  /** Called with a new first admin key before anything else can fail, because it cannot be read again. */
  onNewKey: (key: string) => void;
  /** Ends the process when it cannot go on. */
  fail: (error: Error) => void;
  /** Puts the services into the order of their start. By default the worker is last. */
  arrange?: (services: LocalServices) => readonly Service[];
  /** Aborted when the fleet is to stop: a start that waits for Redis then ends, and the fleet can be stopped. */
  signal?: AbortSignal;
}

export interface LocalServices {
  /** What takes requests, messages and times. */
  fronts: readonly Service[];
  worker: DrainableService;
}

export interface LocalFleet {
  port: number;
  /** Links that sign a browser in once. */
  links: SignInLinks;
  /** Drains within `graceMs`, then ends the Redis that it started. */
  stop(graceMs: number): Promise<void>;
}

/** Redis writes its last second down and ends within this time; it has no more work by then. */
const REDIS_GRACE_MS = 4000;

/**
 * Starts Redis where needed and then every service of the fleet in this process. While Redis does not answer or refuses to write, it waits
 * and says why, and requests are answered with `unavailable.redis`.
 */
export async function startLocalFleet({
  config,
  log,
  redis,
  onNewKey,
  fail,
  arrange = workerLast,
  signal = new AbortController().signal,
}: LocalFleetOptions): Promise<LocalFleet> {
  try {
    const url = await redis.start();
    const opened = Promise.withResolvers<SignInLinks>();
    const installation = new Installation({ onNewKey, signal, log });
    const fleet = await startFleet({
      name: 'local',
      fail,
      config: { ...config, env: { ...config.env, REDIS_URL: url } },
      log,
      prepare: async (parts) => {
        // Before the port is asked for, so that the key reaches its owner also when that is taken.
        await installation.prepare(parts);
        opened.resolve(new SignInLinks({ ...parts, lifetimeMs: parts.settings.signIn.linkMs }));
      },
      create: (parts) => [installation.service(parts), ...arrange(createLocalServices(parts))],
    });
    const stop = async (graceMs: number): Promise<void> => {
      await fleet.stop(graceMs);
      await redis.stop(REDIS_GRACE_MS);
    };
    return { port: fleet.port, links: await opened.promise, stop };
  } catch (error) {
    await redis.stop(REDIS_GRACE_MS);
    throw error;
  }
}

function createLocalServices(parts: Parts): LocalServices {
  const fronts = [
    createApiService(parts),
    createWebhooksService(parts),
    createChatService(parts),
    createDashboardService(parts),
    createSchedulerService(parts),
    createHubService(parts),
  ];
  return { fronts, worker: createWorkerService(parts) };
}

/** It starts when its producers are there, and is the first to drain. */
function workerLast({ fronts, worker }: LocalServices): readonly Service[] {
  return [...fronts, worker];
}
