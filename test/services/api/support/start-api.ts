import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { startHttpServer } from '#shared/http/start-http-server.ts';
import { openParts, type Parts } from '#shared/lifecycle/open-parts.ts';
import { createLog } from '#shared/log/create-log.ts';
import { createKey, type Scope } from '#shared/tenants/key-store.ts';
import { createApiService } from '../../../../services/api/create-api-service.ts';
import { callApi, type CallOptions, type Reply } from '../../../support/call-api.ts';
import { noFailure } from '../../../support/open-test-parts.ts';

export interface Api {
  parts: Parts;
  url: string;
  /** An admin's key of tenant `default`. */
  key: string;
  /** By default with this key. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  keyOf(tenant: string, scopes: Scope[]): Promise<string>;
  close(): Promise<void>;
}

/** The API on a free port, with `more` in its environment, and with the agents `echo` and one that was made to be hidden. */
export async function startApi(redisUrl: string, settings: SettingsInput = {}, more: Record<string, string> = {}): Promise<Api> {
  const agents: SettingsInput['agents'] = {
    echo: { kind: 'echo' },
    hidden: { kind: 'openai', model: 'm', apiKey: 'sk-very-secret', baseUrl: 'https://user:pass@models.example/v1?token=t' },
    shell: { kind: 'command', command: ['sh', '-c', 'echo secret-argument'], env: { TOKEN: 'secret-environment' } },
  };
  const folder = join(tmpdir(), `muster-test-${randomUUID()}`);
  const config = {
    env: environmentSchema.parse({ REDIS_URL: redisUrl, PORT: '0', LOG_LEVEL: 'silent', MUSTER_DATA_DIR: folder, ...more }),
    settings: settingsSchema.parse({ agents, ...settings }),
    digest: 'test',
    directory: process.cwd(),
    readVariable: (name: string) => (name === 'PATH' ? '/usr/bin:/bin' : undefined),
  };
  const log = createLog({ level: 'silent', service: 'test' });
  const parts = await openParts({ config, log, service: 'api-test', fail: noFailure });
  const { router } = createApiService(parts);
  const readiness = async (): Promise<string[]> => ((await parts.redis.ping()) === 'PONG' ? [] : ['Redis does not answer']);
  const server = await startHttpServer({ routers: router ? [router] : [], host: '127.0.0.1', port: 0, config, log, readiness });
  const url = `http://127.0.0.1:${server.port}`;
  const keyOf = async (tenant: string, scopes: Scope[]): Promise<string> =>
    (await createKey(parts, { tenant, name: 'test', scopes })).secret;
  const key = await keyOf('default', ['admin']);
  return {
    parts,
    url,
    key,
    keyOf,
    call: (method, path, options = {}) => callApi(method, `${url}${path}`, { key, ...options }),
    close: async () => {
      await server.close(500);
      await parts.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
