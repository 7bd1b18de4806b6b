import { Writable } from 'node:stream';
import type { Router } from 'express';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { createRouter } from '#shared/http/create-router.ts';
import type { Readiness } from '#shared/http/probes.ts';
import type { Route } from '#shared/http/route.ts';
import { startHttpServer, type HttpServer } from '#shared/http/start-http-server.ts';
import { createLog, type Log } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { createKey, keyDigest, type Scope } from '#shared/tenants/key-store.ts';
import { SignInStore } from '#shared/tenants/sign-in-store.ts';
import type { Tenant } from '#shared/tenants/tenant.ts';

export interface ServeOptions {
  redisUrl: string;
  routes: Route[];
  settings?: SettingsInput;
  environment?: Record<string, string>;
  tenants?: Tenant[];
  /** Mounted before the routes. */
  router?: Router;
  readiness?: () => Promise<Readiness>;
  warnings?: () => string[];
}

export interface Served {
  url: string;
  server: HttpServer;
  redis: RedisClient;
  /** Everything logged, as one text. */
  logged(): string;
  keyOf(tenant: string, scopes: Scope[]): Promise<string>;
  /** The cookie of a browser that signed in with this key. */
  signIn(key: string): Promise<string>;
  close(): Promise<void>;
}

/** Routes on a real server, with a log that can be read. */
export async function serveRoutes(options: ServeOptions): Promise<Served> {
  const { redisUrl, routes, settings = {}, environment = {}, tenants = [], router } = options;
  const config = {
    env: environmentSchema.parse({ REDIS_URL: redisUrl, ...environment }),
    settings: settingsSchema.parse(settings),
    digest: 'test',
    directory: process.cwd(),
    readVariable: () => undefined,
  };
  const { log, logged } = readableLog();
  const redis = connectRedis({ url: redisUrl, name: 'http-test', log });
  const keys = createKeys(1);
  const find = (id: string): Tenant | null => tenants.find((tenant) => tenant.id === id) ?? null;
  const parts = { redis, keys, config, tenants: { get: find, find } };
  const own = createRouter({ routes, parts, log });
  const readiness = options.readiness ?? ((): Promise<Readiness> => Promise.resolve([]));
  const server = await startHttpServer({
    routers: router ? [router, own] : [own],
    host: '127.0.0.1',
    port: 0,
    config,
    log,
    readiness,
    warnings: options.warnings,
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    server,
    redis,
    logged,
    keyOf: async (tenant, scopes) => (await createKey(parts, { tenant, name: 'test', scopes })).secret,
    signIn: async (key) => `muster_session=${await new SignInStore({ redis, keys, lifetimeMs: 60_000 }).open({ key: keyDigest(key) })}`,
    close: async () => {
      await server.close(500);
      redis.disconnect();
    },
  };
}

function readableLog(): { log: Log; logged: () => string } {
  let text = '';
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  return { log: createLog({ level: 'trace', service: 'test', destination }), logged: () => text };
}
