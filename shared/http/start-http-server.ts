import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import express, { type ErrorRequestHandler, type Express, type Router } from 'express';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import { assertMethodAllowed } from './allowed-methods.ts';
import { docsRouter } from './openapi/openapi.ts';
import { probeRouter, type Readiness } from './probes.ts';
import { refuseUnreadable, requestError, sendProblem } from './answers/problems.ts';
import { contextOf, createServerLoad, type ServerLoad } from './request-context.ts';
import { routesOf } from './route.ts';
import { secureHeaders, watchRequests } from './middleware.ts';
import { LATE, within } from '../time/index.ts';

/** What serves WebSockets at a path, from the handshake on. It owns the socket, and ends it when its service stops. */
export interface UpgradeHandler {
  readonly path: string;
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface HttpServerOptions {
  /** Mounted at `/`, in this order. */
  routers: readonly Router[];
  upgrades?: readonly UpgradeHandler[];
  host: string;
  /** 0 takes any free one. */
  port: number;
  config: Config;
  log: Log;
  /** For `/readyz`. */
  readiness: () => Promise<Readiness>;
  warnings?: (() => readonly string[]) | undefined;
  /** The services' own metrics, for `/metrics`. */
  registries?: readonly Registry[];
}

export interface HttpServer {
  /** The port it listens on, also when 0 was requested. */
  readonly port: number;
  /** Stops listening, ends event streams, lets running requests end, and cuts the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const MAX_HEADER_BYTES = 16_384;
/** From connecting to the last header, and to the last byte of the body: a slow sender holds a connection no longer. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** Between two checks for such senders; by default it is longer than the first of these times. */
const CHECK_MS = 2000;
/** Longer than the 60 s that proxies keep theirs, so that they never send into a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;

/** Serves the routers, with probes, metrics and documentation. Rejects with the system's own error, such as `EADDRINUSE`. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const load = createServerLoad(options.config.settings.http);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Any other request is answered as if it asked for no other protocol.
      shouldUpgradeCallback: (request) => findUpgrade(options, request) !== undefined,
    },
    createApp(options, load),
  );
  server.on('upgrade', (request, socket, head) => findUpgrade(options, request)?.handle(request, socket, head));
  refuseUnreadable(server);
  // An `Expect` other than `100-continue` may be ignored, instead of an answer without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  await listen(server, options);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    close: async (graceMs) => {
      load.streams.close();
      await closeServer(server, graceMs);
    },
  };
}

function findUpgrade({ upgrades = [] }: HttpServerOptions, { headers, url = '' }: IncomingMessage): UpgradeHandler | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const [path] = url.split('?');
  return upgrades.find((upgrade) => upgrade.path === path);
}

function createApp({ routers, config, log, readiness, warnings, registries = [] }: HttpServerOptions, load: ServerLoad): Express {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // One proxy, the ingress: a caller could write the addresses before it itself.
  app.set('trust proxy', config.env.MUSTER_TRUST_PROXY ? 1 : false);
  app.use(watchRequests({ log, load, registry: own }));
  app.use(secureHeaders());
  const probes = probeRouter({ readiness, warnings, registries: [own, ...registries], log });
  app.use(probes);
  app.use(docsRouter([...routers, probes].flatMap((router) => routesOf(router))));
  for (const router of routers) app.use(router);
  app.use((request, response) => {
    assertMethodAllowed(request, response);
    throw new MusterError('request.not-found', `There is no ${request.method} ${request.path.slice(0, 200)}`);
  });
  const refuse: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    sendProblem(response, requestError(error), contextOf(request, log, load).log);
  };
  app.use(refuse);
  return app;
}

async function listen(server: Server, { host, port }: HttpServerOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Between two checks for connections that have become idle; the server itself checks only once. */
const IDLE_CHECK_MS = 50;

/** Stops taking connections, lets running requests end, and cuts the rest after `graceMs`. Never rejects. */
async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const check = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  try {
    if ((await within(closed, graceMs)) === LATE) {
      server.closeAllConnections();
      await closed;
    }
  } finally {
    clearInterval(check);
  }
}
