import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tenantLimitsSchema } from '#shared/config/settings/limits-settings.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { tenantSchema, type Tenant } from '#shared/tenants/tenant.ts';
import { repairStates } from '#shared/tenants/tenant-records.ts';
import { TenantDirectory } from '#shared/tenants/tenant-directory.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const keys = createKeys(1);
const lines: string[] = [];
const log = createLog({ level: 'debug', service: 'test', destination: { write: (line: string) => lines.push(line) } });
const limits = tenantLimitsSchema.parse({ running: 3 });
const settings = settingsSchema.parse({ limits: { tenants: { configured: { running: 7 } } } });
const tenant = (id: string, own: Partial<Tenant> = {}): Tenant => ({ id, name: id, disabled: false, limits: null, createdAt: 1, ...own });

let server: RedisServer;
let redis: RedisClient;
let directories: TenantDirectory[];

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  directories = [];
  lines.length = 0;
});

afterEach(async () => {
  directories.forEach((directory) => directory.stop());
  redis.disconnect();
  await server.stop();
});

const directory = (): TenantDirectory => {
  const made = new TenantDirectory({ redis, keys, settings, log });
  directories.push(made);
  return made;
};
const started = async (): Promise<TenantDirectory> => {
  const made = directory();
  await made.start();
  return made;
};

describe('the directory of tenants', () => {
  it('has the tenant "default" from the start, and no other', async () => {
    expect((await started()).list().map(({ id }) => id)).toEqual(['default']);
  });

  it('keeps what it wrote while it read all of them', async () => {
    const made = await started();
    for (let round = 0; round < 20; round += 1) {
      const reading = made.refresh();
      const saving = made.save(tenant('acme', { createdAt: round }));
      await Promise.all([reading, saving]);
      expect(made.get('acme')?.createdAt).toBe(round);
    }
  });

  it('keeps what a later read brought when an earlier one comes behind it', async () => {
    const held: (() => void)[] = [];
    const slow = connectRedis({ url: server.url, name: 'test', log });
    const read = slow.hgetall.bind(slow);
    vi.spyOn(slow, 'hgetall').mockImplementationOnce(async (key) => {
      const answer = await read(key);
      await new Promise<void>((resolve) => held.push(resolve));
      return answer;
    });
    const reader = new TenantDirectory({ redis: slow, keys, settings, log });
    const first = reader.refresh();
    await waitFor(() => held.length === 1, { deadlineMs: 5000, what: 'the first read' });
    await (await started()).save(tenant('acme'));
    await reader.refresh();
    expect(reader.get('acme')).not.toBeNull();
    held[0]?.();
    await first;
    expect(reader.get('acme')).not.toBeNull();
    slow.disconnect();
  });

  it('knows what it saved, at once and after a new start, in order of their names', async () => {
    const first = await started();
    await first.save(tenant('zebra'));
    await first.save(tenant('acme', { limits }));
    expect(first.get('acme')).toEqual(tenant('acme', { limits }));
    expect((await started()).list().map(({ id }) => id)).toEqual(['acme', 'default', 'zebra']);
    await first.end(tenant('zebra'), 1);
    expect([first.get('zebra'), (await started()).get('zebra')]).toEqual([null, null]);
  });

  it('knows a tenant whose name was used before by its own id, and forgets it at its end', async () => {
    const here = directory();
    const { id: _, ...draft } = tenant('again', { limits });
    const first = await here.create('again', draft);
    if (first === null || first === 'full') throw new Error('expected a tenant');
    await here.end(first, 1);
    const second = await here.create('again', draft);
    if (second === null || second === 'full') throw new Error('expected a tenant');
    await here.refresh();
    expect(here.get(second.id)).toMatchObject({ id: 'again~2' });
    expect(here.limitsOf(second.id)).toMatchObject({ running: 3 });
    await here.end(second, 2);
    expect(here.find('again')).toBeNull();
    await here.refresh();
    expect(here.list().map(({ id }) => id)).toEqual(['default']);
  });

  it('never brings a tenant back that has ended, whatever another process still knows of it', async () => {
    const [mine, theirs] = [await started(), await started()];
    await mine.save(tenant('acme'));
    await theirs.end(tenant('acme'), 1);
    await expect(mine.save(tenant('acme', { limits }))).rejects.toMatchObject({ code: 'tenant.ended' });
    expect(await redis.hget(keys.fleet.tenants, 'acme')).toBeNull();
    await repairStates({ redis, keys }, [tenant('acme')]);
    expect(await redis.hget(keys.shard(0).tenantStates, 'acme')).toBe('ended');
  });

  it('learns within seconds what another process changed', async () => {
    const [mine, theirs] = [await started(), await started()];
    await theirs.save(tenant('acme'));
    await waitFor(() => mine.get('acme'), { deadlineMs: 5000, what: 'the new tenant' });
    await theirs.save(tenant('acme', { disabled: true }));
    expect(await waitFor(() => mine.get('acme')?.disabled, { deadlineMs: 5000, what: 'the change' })).toBe(true);
  });

  it('learns everything once Redis is there, when it was started before it', async () => {
    await (await started()).save(tenant('acme'));
    await server.kill('SIGSTOP');
    const early = directory();
    await early.start().catch(() => undefined);
    expect(early.get('default')).toMatchObject({ id: 'default', disabled: false });
    await server.kill('SIGCONT');
    await waitFor(() => early.get('acme'), { deadlineMs: 8000, what: 'the tenant' });
  });

  it('keeps what it knows while Redis is away', async () => {
    const made = await started();
    await made.save(tenant('acme'));
    await server.kill('SIGSTOP');
    await expect(made.refresh()).rejects.toThrow('Command timed out');
    expect(made.get('acme')).not.toBeNull();
    await server.kill('SIGCONT');
  });

  it('knows all others when one record cannot be read, and says so once', async () => {
    await redis.hset(keys.fleet.tenants, 'bad', '{"id":"bad"}', 'worse', '{', 'acme', JSON.stringify(tenant('acme')));
    const made = await started();
    await made.refresh();
    expect(made.list().map(({ id }) => id)).toEqual(['acme', 'default']);
    expect(lines.filter((line) => line.includes('"bad"'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('"worse"'))).toHaveLength(1);
  });
});

describe('the limits of a tenant', () => {
  it('are its own, else the configuration’s for it, else those for all, and none for "default"', async () => {
    const made = await started();
    await made.save(tenant('own', { limits }));
    await made.save(tenant('plain'));
    await made.save(tenant('configured'));
    expect(made.limitsOf('own')).toEqual(limits);
    expect(made.limitsOf('configured')?.running).toBe(7);
    expect(made.limitsOf('plain')).toEqual(settings.limits.tenant);
    expect(made.limitsOf('unheard-of')).toEqual(settings.limits.tenant);
    expect(made.limitsOf('constructor')).toEqual(settings.limits.tenant);
    expect(made.limitsOf('default')).toBeNull();
  });

  it('hold for "default" when the configuration names it', async () => {
    const named = new TenantDirectory({
      redis,
      keys,
      log,
      settings: settingsSchema.parse({ limits: { tenants: { default: { running: 2 } } } }),
    });
    expect(named.limitsOf('default')?.running).toBe(2);
  });
});

describe('the id of a tenant', () => {
  it.each(['acme', 'a', '0', 'a-b_c', 'a'.repeat(63)])('may be %s', (id) => {
    expect(tenantSchema.safeParse(tenant(id)).success).toBe(true);
  });

  it.each(['', 'Acme', '-a', 'a/b', 'a:b', 'a{b}', 'a b', 'a'.repeat(64), 'ä', '*'])('cannot be "%s"', (id) => {
    expect(tenantSchema.safeParse(tenant(id)).success).toBe(false);
  });
});
