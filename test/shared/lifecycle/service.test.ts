import { Router } from 'express';
import { expect, test } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import type { Config } from '#shared/config/load-config.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import type { Readiness } from '#shared/http/probes.ts';
import type { HttpServer, HttpServerOptions } from '#shared/http/start-http-server.ts';
import { serve, type Served, type Service } from '#shared/lifecycle/service.ts';
import { createLog } from '#shared/log/create-log.ts';

const log = createLog({ level: 'silent', service: 'test' });
const config: Config = {
  env: environmentSchema.parse({ PORT: '0' }),
  settings: settingsSchema.parse({}),
  digest: 'test',
  directory: '/',
  readVariable: () => undefined,
};

/** Serves two services, one of them without paths, behind a server that only notes what it was given. */
async function served(
  startHttpServer: (options: HttpServerOptions) => Promise<HttpServer>,
  redisProblems: string[] = [],
): Promise<{ it: Served; stopped: string[] }> {
  const stopped: string[] = [];
  const service = (name: string, router?: Router): Service => ({
    name,
    ...(router ? { router } : {}),
    start: async () => undefined,
    stop: async () => void stopped.push(name),
  });
  const services = [service('api', Router()), service('worker')];
  return { it: await serve({ config, log, services, startHttpServer, redisProblems: async () => redisProblems }), stopped };
}

test('it serves the paths of those services that have some, and stops services and server', async () => {
  let given: HttpServerOptions | undefined;
  let isClosed = false;
  const { it, stopped } = await served(async (options) => {
    given = options;
    return { port: 4711, close: async () => void (isClosed = true) };
  });
  expect(it.port).toBe(4711);
  expect(given?.routers).toHaveLength(1);
  await it.stop(100);
  expect(stopped).toEqual(['worker', 'api']);
  expect(isClosed).toBe(true);
});

test('it is ready while Redis answers, and neither without it nor from the moment it begins to stop', async () => {
  let given: HttpServerOptions | undefined;
  let whileStopping: Readiness | undefined;
  const start = async (options: HttpServerOptions): Promise<HttpServer> => {
    given = options;
    return { port: 1, close: async () => void (whileStopping = await options.readiness()) };
  };
  const { it } = await served(start);
  expect(await given?.readiness()).toEqual([]);
  await it.stop(100);
  expect(whileStopping).toBe('shutting down');
  await served(start, ['Redis does not answer']);
  expect(await given?.readiness()).toEqual(['Redis does not answer']);
});

test.each([
  { what: 'nothing but probes and metrics', router: {}, isClosedBefore: false },
  { what: 'calls', router: { router: Router() }, isClosedBefore: true },
])('a process that serves $what closes its server before its services have ended: $isClosedBefore', async ({ router, isClosedBefore }) => {
  let isClosed = false;
  let wasClosed: boolean | undefined;
  const startHttpServer = async (): Promise<HttpServer> => ({ port: 1, close: async () => void (isClosed = true) });
  const draining: Service = {
    name: 'worker',
    ...router,
    start: async () => undefined,
    stop: async () => {
      await Promise.resolve();
      wasClosed = isClosed;
    },
  };
  const it = await serve({ config, log, services: [draining], startHttpServer, redisProblems: async () => [] });
  await it.stop(1000);
  expect([wasClosed, isClosed]).toEqual([isClosedBefore, true]);
});

test('it names what does not move in a service', async () => {
  let given: HttpServerOptions | undefined;
  const start = async (options: HttpServerOptions): Promise<HttpServer> => {
    given = options;
    return { port: 1, close: async () => undefined };
  };
  const worker: Service = { name: 'worker', start: async () => undefined, stop: async () => undefined, problems: () => ['it stands'] };
  const it = await serve({ config, log, services: [worker], startHttpServer: start, redisProblems: async () => [] });
  expect(await given?.readiness()).toEqual(['it stands']);
  await it.stop(100);
});

test('a server that cannot listen starts no service', async () => {
  const started: string[] = [];
  const service: Service = { name: 'api', start: async () => void started.push('api'), stop: async () => undefined };
  const inUse = Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
  const serving = serve({ config, log, services: [service], startHttpServer: () => Promise.reject(inUse), redisProblems: async () => [] });
  await expect(serving).rejects.toBe(inUse);
  expect(started).toEqual([]);
});

test('a service that cannot start takes the server down again', async () => {
  let isClosed = false;
  const service: Service = { name: 'api', start: () => Promise.reject(new Error('no')), stop: async () => undefined };
  const startHttpServer = async (): Promise<{ port: number; close: () => Promise<void> }> => ({
    port: 1,
    close: async () => {
      isClosed = true;
    },
  });
  await expect(serve({ config, log, services: [service], startHttpServer, redisProblems: async () => [] })).rejects.toThrow('no');
  expect(isClosed).toBe(true);
});

test('a server that fails while it closes does not fail the stop', async () => {
  const { it, stopped } = await served(async () => ({
    port: 1,
    close: async () => {
      throw new Error('cannot close');
    },
  }));
  await expect(it.stop(100)).resolves.toBeUndefined();
  expect(stopped).toEqual(['worker', 'api']);
});
