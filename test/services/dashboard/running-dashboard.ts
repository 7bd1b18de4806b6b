import { fileURLToPath } from 'node:url';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { startHttpServer, type HttpServer } from '#shared/http/start-http-server.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { createKey, type Scope } from '#shared/tenants/key-store.ts';
import { createDashboardService } from '../../../services/dashboard/create-dashboard-service.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';

/** The header with which a browser marks requests from pages of the same site. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin' } as const;

export interface RunningDashboard {
  readonly url: string;
  readonly parts: Parts;
  readonly redis: RedisServer;
  /** Sends a request with the headers given and follows no redirect. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>;
  /** Signs in with a new key. Resolves to the cookie, or to an empty string after a failure. */
  signIn(scopes: Scope[], tenant?: string): Promise<string>;
  newSecret(scopes: Scope[], tenant?: string): Promise<string>;
  /** Cuts every connection and accepts none until the repair. */
  cut(): Promise<void>;
  repair(): Promise<void>;
  close(): Promise<void>;
}

export interface CallOptions {
  cookie?: string;
  headers?: Record<string, string>;
  form?: Record<string, string>;
  json?: unknown;
}

export interface DashboardOptions {
  env?: Record<string, string>;
  /** The folder of the built console; by default a page of three lines. */
  built?: string;
  /** Further services of the same process. */
  more?: (parts: Parts) => Service[];
}

const BUILT = fileURLToPath(new URL('fixtures/built', import.meta.url));
const GRACE_MS = 1000;

/** A dashboard behind the real server, on a Redis of its own. */
export async function startDashboard(settings: SettingsInput = {}, options: DashboardOptions = {}): Promise<RunningDashboard> {
  const { env = {}, built = BUILT, more = () => [] } = options;
  const redis = await startRedis();
  const parts = await openTestParts({ redisUrl: redis.url, settings: { agents: { echo: { kind: 'echo' } }, ...settings }, env });
  const services = [...more(parts), createDashboardService(parts, built)];
  const listen = (port: number): Promise<HttpServer> =>
    startHttpServer({
      routers: services.flatMap(({ router }) => (router ? [router] : [])),
      host: '127.0.0.1',
      port,
      config: parts.config,
      log: parts.log,
      readiness: () => Promise.resolve([]),
    });
  let server = await listen(0);
  const { port } = server;
  for (const service of services) await service.start();
  const url = `http://127.0.0.1:${port}`;

  const call: RunningDashboard['call'] = async (method, path, { cookie, headers = {}, form, json } = {}) => {
    const body = form ? new URLSearchParams(form) : json === undefined ? null : JSON.stringify(json);
    const type = json === undefined ? {} : { 'content-type': 'application/json' };
    return await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { accept: 'text/html', ...type, ...(cookie ? { cookie } : {}), ...headers },
      ...(body === null ? {} : { body }),
    });
  };
  const newSecret = async (scopes: Scope[], tenant = 'default'): Promise<string> =>
    (await createKey(parts, { tenant, name: 'test', scopes })).secret;
  const signIn = async (scopes: Scope[], tenant?: string): Promise<string> => {
    const answer = await call('POST', '/sign-in', { form: { key: await newSecret(scopes, tenant) }, headers: OWN_PAGE });
    return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const close = async (): Promise<void> => {
    await Promise.all([server.close(GRACE_MS), ...services.map((service) => service.stop(GRACE_MS))]);
    await parts.close();
    await redis.stop();
  };
  const cut = (): Promise<void> => server.close(0);
  const repair = async (): Promise<void> => {
    server = await listen(port);
  };
  return { url, cut, repair, parts, redis, call, signIn, newSecret, close };
}
