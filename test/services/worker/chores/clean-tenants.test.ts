import { describe, expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { scanKeys } from '#shared/redis/replies.ts';
import { createKey, findKey } from '#shared/tenants/key-store.ts';
import type { Tenant } from '#shared/tenants/tenant.ts';
import { createVisitor, findVisitor } from '#shared/tenants/visitor-store.ts';
import { cleanTenants } from '../../../../services/worker/chores/clean-tenants.ts';
import type { Clock } from '#shared/time/clock.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts({ tenants: { settleMs: 60_000, endedRetentionMs: 1_000_000 }, signIn: { peopleRetentionMs: 3_600_000 } });
const { redis, keys, tenants } = parts;
const at = (now: number): Clock => ({ now: () => now, monotonic: () => now });

async function made(name: string): Promise<Tenant> {
  const tenant = await tenants.create(name, { name, disabled: false, limits: null, createdAt: 1 });
  if (tenant === null || tenant === 'full') throw new Error('expected a tenant');
  return tenant;
}

async function ownKeys({ id }: Tenant): Promise<string[]> {
  const found: string[] = [];
  for await (const page of scanKeys(redis, `${keys.tenantPrefix(id)}*`)) found.push(...page);
  return found;
}

const request = (tenant: string): Parameters<typeof acceptTask>[1] => ({ tenant, agent: 'echo', input: 'x', idempotencyKey: 'k' });

describe('what an ended tenant left', () => {
  it('is removed by the chore when the process that ended it died over it', async () => {
    const tenant = await made('left');
    const { secret } = await createKey(parts, { tenant: tenant.id, name: 'k', scopes: ['admin'] });
    const { token } = await createVisitor(parts, { tenant: tenant.id, session: 's', expiresInMs: 60_000 }, 10);
    await acceptTask(parts, request(tenant.id));
    const { openCancels } = keys.shard(keys.shardOf(tenant.id));
    await redis.zadd(openCancels, 1, `${tenant.id}/task/why`, 1, 'other/task/why');
    await redis.hset(keys.fleet.peopleDisabled, `ann/${tenant.id}`, '1', 'ann/other', '1');
    await redis.hset(keys.shard(keys.shardOf(tenant.id)).budgetVersions, tenant.id, '7');
    // Its end was written, and nothing else happened.
    await tenants.end(tenant, 1000);
    expect([await findKey(parts, secret), await findVisitor(parts, token)]).toEqual([null, null]);
    expect((await ownKeys(tenant)).length).toBeGreaterThan(3);

    await cleanTenants(parts, at(2000));
    expect([await ownKeys(tenant), await redis.zrange(openCancels, '0', '-1')]).toEqual([[], ['other/task/why']]);
    expect(await redis.hkeys(keys.fleet.peopleDisabled)).toEqual(['ann/other']);
    expect(await redis.hkeys(keys.shard(keys.shardOf(tenant.id)).budgetVersions)).toEqual([]);
    expect([await redis.hlen(keys.fleet.apiKeys), await redis.exists(keys.fleet.visitors(tenant.id))]).toEqual([0, 0]);
    await expect(acceptTask(parts, request(tenant.id))).rejects.toMatchObject({ code: 'tenant.ended' });
  });

  it('is removed until no call of before the end can be under way any more', async () => {
    const tenant = await made('late');
    await tenants.end(tenant, 1000);
    await cleanTenants(parts, at(2000));
    await redis.set(keys.tenant(tenant.id).command('late'), 'written by a call that hung');
    await cleanTenants(parts, at(61_000));
    expect(await ownKeys(tenant)).toEqual([]);
    expect(await redis.zscore(keys.fleet.tenantsToClean, tenant.id)).toBeNull();
  });

  it('keeps neither a state that a later tenant of its name would meet nor, after a time, its end', async () => {
    const [first, second] = [await made('again'), null];
    expect(second).toBeNull();
    await tenants.end(first, 1000);
    const later = await made('again');
    expect(later.id).toBe('again~2');
    expect((await acceptTask(parts, request(later.id))).isDuplicate).toBe(false);

    await cleanTenants(parts, at(61_000));
    // People are known, whose roles may name it.
    await redis.hset(keys.fleet.people, 'ann', '{}');
    await cleanTenants(parts, at(3_500_000));
    expect(await redis.hget(keys.fleet.tenantGenerations, 'again')).toBe('1');
    await redis.del(keys.fleet.people);
    await cleanTenants(parts, at(3_500_000));
    expect(await redis.zrange(keys.fleet.endedTenants, '0', '-1')).not.toContain('again');
    expect(await redis.hget(keys.shard(0).tenantStates, 'again')).toBeNull();
    expect((await acceptTask(parts, request(later.id))).isDuplicate).toBe(true);
  });
});

describe('a record that two administrators change', () => {
  it('does not come back with a change that was under way when its tenant ended', async () => {
    const tenant = await made('changed');
    await tenants.end(tenant, 1000);
    await expect(tenants.save({ ...tenant, name: 'Other' })).rejects.toMatchObject({ code: 'tenant.ended' });
    await tenants.refresh();
    expect(tenants.find('changed')).toBeNull();
  });

  it('has the same mark beside its keys once a process that died between the two is replaced', async () => {
    const tenant = await made('halfway');
    await redis.hset(keys.fleet.tenants, 'halfway', JSON.stringify({ ...tenant, disabled: true }));
    await cleanTenants(parts, at(1000));
    await expect(acceptTask(parts, request(tenant.id))).rejects.toMatchObject({ code: 'tenant.disabled' });
  });
});
