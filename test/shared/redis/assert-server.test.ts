import { afterEach, describe, expect, it } from 'vitest';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { assertServer } from '#shared/redis/server/assert-server.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startDeclaredKeysOnly } from '../../support/redis/declared-keys-only.ts';
import { startRespProxy } from '../../support/redis/resp-proxy.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';

const server = await useRedis();
const operator = await useRedisClient(server);
const keys = createKeys(1);
const silent = createLog({ level: 'silent', service: 'test' });

const clients: RedisClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await operator.config('SET', 'maxmemory-policy', 'noeviction');
});

function connectTo(url: string): RedisClient {
  const client = connectRedis({ url, name: 'test', log: silent });
  clients.push(client);
  return client;
}

async function assertAt(url: string, redis: SettingsInput['redis'] = {}): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => lines.push(line) } });
  await assertServer({ redis: connectTo(url), keys, settings: settingsSchema.parse({ redis }), log });
  return lines.map((line) => String(JSON.parse(line).event));
}

/** The server with other answers to some commands. */
async function answering(answers: readonly [command: RegExp, answer: string][]): Promise<string> {
  const proxy = await startRespProxy(server.port, (words) => {
    const line = words.map(String).join(' ');
    const known = answers.find(([command]) => command.test(line));
    return known ? { error: known[1] } : { words };
  });
  clients.push({ disconnect: () => void proxy.close() } as RedisClient);
  return proxy.url;
}

describe('a server is refused in one sentence', () => {
  it.each(['allkeys-lru', 'volatile-ttl'])('that evicts by %s', async (policy) => {
    await operator.config('SET', 'maxmemory-policy', policy);
    await expect(assertAt(server.url)).rejects.toMatchObject({
      code: 'config.invalid',
      message: `Redis has maxmemory-policy ${policy}, which throws accepted work away once its memory is full: CONFIG SET maxmemory-policy noeviction, or set redis.allowEviction to live with that.`,
    });
    await expect(assertAt(server.url, { allowEviction: true })).resolves.toEqual([]);
  });

  it.each([
    ['dragonfly', 'start Dragonfly with --default_lua_flags=allow-undeclared-keys'],
    ['tair', 'set script_check_enable to 0 at Tair'],
  ] as const)('whose scripts may use declared keys only, as at %s', async (kind, helps) => {
    const proxy = await startDeclaredKeysOnly(server.port, kind);
    await expect(assertAt(proxy.url)).rejects.toMatchObject({
      code: 'config.invalid',
      message: `Redis lets scripts use declared keys only, and Muster's use others of the same hash tag, too: ${helps}, or use another server.`,
    });
    await proxy.close();
  });

  it('that runs no scripts', async () => {
    const url = await answering([[/^eval /i, "ERR unknown command 'eval'"]]);
    await expect(assertAt(url)).rejects.toMatchObject({ code: 'config.invalid', message: expect.stringContaining('does not run scripts') });
  });

  it('that is not what redis.durability says', async () => {
    await expect(assertAt(server.url, { durability: 'always' })).rejects.toMatchObject({
      message:
        'redis.durability is always, and Redis has appendonly no and appendfsync everysec: it needs appendonly yes and appendfsync always.',
    });
    const url = await answering([[/^waitaof /i, "ERR unknown command 'WAITAOF', with args beginning with: '1' '0' '100' "]]);
    await expect(assertAt(url, { durability: 'waitaof' })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^redis.durability is waitaof, and Redis [\d.]+ has no WAITAOF: it needs 7.2 or newer, or durability always.$/,
      ),
    });
  });
});

describe('a server is used', () => {
  it('that keeps what it has', async () => {
    await expect(assertAt(server.url)).resolves.toEqual([]);
  });

  it('that does not say its policy, with a warning', async () => {
    const url = await answering([
      [/^info memory$/i, "NOPERM this user has no permissions to run the 'info' command"],
      [/^config /i, "ERR unknown command 'CONFIG'"],
    ]);
    await expect(assertAt(url)).resolves.toEqual(['redis.policy-unknown']);
  });

  it('once it is no longer away', async () => {
    const url = await answering([[/^eval /i, 'LOADING Redis is loading the dataset in memory']]);
    await expect(assertAt(url)).rejects.toThrow(/^LOADING/);
  });
});
