import { Pool } from 'undici';
import { startHttpServer, type HttpServer } from '#shared/http/start-http-server.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { createKey } from '#shared/tenants/key-store.ts';
import { createApiService } from '../../../services/api/create-api-service.ts';

/** The API in front of the same parts, and a client that keeps its connections. */
export class HttpFleet {
  readonly #server: HttpServer;
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  static async open(parts: Parts, connections: number): Promise<HttpFleet> {
    const { secret } = await createKey(parts, { tenant: 'default', name: 'bench', scopes: ['submit'] });
    const { router } = createApiService(parts);
    const server = await startHttpServer({
      routers: router ? [router] : [],
      host: '127.0.0.1',
      port: 0,
      config: parts.config,
      log: parts.log,
      readiness: () => Promise.resolve([]),
    });
    return new HttpFleet(server, new Pool(`http://127.0.0.1:${server.port}`, { connections }), secret);
  }

  private constructor(server: HttpServer, pool: Pool, secret: string) {
    this.#server = server;
    this.#pool = pool;
    this.#headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  }

  async accept(): Promise<void> {
    const body = JSON.stringify({ agent: 'nothing', input: 'x' });
    const response = await this.#pool.request({ path: '/v1/tasks', method: 'POST', headers: this.#headers, body });
    if (response.statusCode !== 202) throw new Error(`POST /v1/tasks answered ${response.statusCode}: ${await response.body.text()}`);
    await response.body.dump();
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.#server.close(1000);
  }
}
