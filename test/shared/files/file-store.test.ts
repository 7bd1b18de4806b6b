import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { UploadedFile } from '#shared/files/file-store.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { endTenant } from '#shared/tenants/end-tenant.ts';
import { cleanTenants } from '../../../services/worker/chores/clean-tenants.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts({
  files: { maxPerTenant: 3, maxBytesPerTenant: 1000, maxPerTask: 2, maxBytesPerTask: 100, uploadMs: 1000, checkMs: 1000, maxTransfers: 2 },
  tenants: { settleMs: 1 },
});
const { files, redis, keys } = parts;

const LATER_MS = 120_000;
const folder = join(parts.config.env.MUSTER_DATA_DIR, 'files', 'tenants');

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const each of texts) yield Buffer.from(each);
}

const upload = (tenant: string, content = 'hello'): Promise<UploadedFile> =>
  files.upload(tenant, { name: 'a.txt', mediaType: 'text/plain' }, chunks(content));

async function storedOf(tenant: string): Promise<string[]> {
  const found = await readdir(join(folder, tenant), { recursive: true }).catch(() => []);
  return found.filter((name) => /[0-9a-f]{32}$/.test(name));
}

const totalsOf = (tenant: string): Promise<Record<string, string>> => redis.hgetall(keys.tenant(tenant).fileTotals);

async function remove(id: string): Promise<void> {
  await redis.hdel(keys.tenant('default').bodies, id);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('cut');
}

describe('files of a tenant', () => {
  it('are refused beyond their number and their bytes together, and others have room', async () => {
    await upload('full');
    await upload('full');
    await upload('full');
    await expect(upload('full')).rejects.toMatchObject({ code: 'limit.storage' });
    await expect(upload('large', 'x'.repeat(1001))).rejects.toMatchObject({ code: 'limit.storage' });
    expect(await storedOf('full')).toHaveLength(3);
    expect(await storedOf('large')).toEqual([]);
    expect(await totalsOf('full')).toEqual({ files: '3', bytes: '15' });
  });

  it('expire when no task has them, and give their room back', async () => {
    const { file } = await upload('expiring');
    await upload('expiring', '');
    expect(await files.removeUnused(Date.now())).toBe(0);
    expect(await files.removeUnused(Date.now() + LATER_MS)).toBeGreaterThan(1);
    expect(await files.find('expiring', file)).toBeNull();
    expect(await storedOf('expiring')).toEqual([]);
    expect(await totalsOf('expiring')).toEqual({});
    expect(await redis.zcount(keys.shard(0).filesDue, '-inf', '+inf')).toBe(0);
  });

  it('are kept as long as one of their tasks, whatever became of the others', async () => {
    const { file } = await upload('default');
    const attachments = [{ uploadId: file }];
    const first = await acceptTask(parts, {
      tenant: 'default',
      agent: 'echo',
      input: 'a',
      attachments,
      scheduledFor: '2999-01-01T00:00:00Z',
    });
    const second = await acceptTask(parts, {
      tenant: 'default',
      agent: 'echo',
      input: 'b',
      attachments,
      scheduledFor: '2999-01-01T00:00:00Z',
    });
    await files.bind('default', '01JD0000000000000000000000', [file]);
    await files.removeUnused(Date.now() + LATER_MS);
    await remove(first.id);
    await files.removeUnused(Date.now() + 2 * LATER_MS);
    const kept = await files.open({ tenant: 'default', file });
    expect(kept && (await text(kept))).toBe('hello');
    await remove(second.id);
    await files.removeUnused(Date.now() + 3 * LATER_MS);
    expect(await files.open({ tenant: 'default', file })).toBeNull();
    expect(await totalsOf('default')).toEqual({});
  });

  it('are all removed with their tenant, and it gets no new ones', async () => {
    const tenant = await parts.tenants.create('leaving', { name: 'leaving', disabled: false, limits: null, createdAt: Date.now() });
    if (tenant === null || tenant === 'full') throw new Error('the tenant is not new');
    await upload(tenant.id);
    await endTenant(parts, tenant);
    await expect(upload(tenant.id)).rejects.toMatchObject({ code: 'tenant.ended' });
    await expect
      .poll(async () => {
        await cleanTenants(parts);
        return await storedOf(tenant.id);
      })
      .toEqual([]);
  });

  it('that break off while they arrive leave nothing behind', async () => {
    await expect(files.upload('broken', { name: 'a', mediaType: 'text/plain' }, broken())).rejects.toThrow('cut');
    expect(await storedOf('broken')).toEqual([]);
    expect(await readdir(join(folder, '..', 'arriving'))).toEqual([]);
  });

  it('are refused while as many arrive as may', async () => {
    const open = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      await open.promise;
      yield Buffer.from('x');
    }
    const described = { name: 'a', mediaType: 'text/plain' };
    const arriving = [files.upload('slow', described, slow()), files.upload('slow', described, slow())];
    await expect(upload('slow')).rejects.toMatchObject({ code: 'limit.bodies' });
    open.resolve();
    expect(await Promise.all(arriving)).toHaveLength(2);
  });
});

it('an artifact is taken of the attempt that holds the lease only, within the bounds of its task', async () => {
  const by = { tenant: 'artifacts', task: '01JD0000000000000000000001', attempt: 1, lease: 'artifacts/01JD0000000000000000000001/1' };
  const add = (name: string, content: string): Promise<unknown> =>
    files.add(by, `out/${name}`, { name, mediaType: 'text/plain' }, chunks(content));
  await expect(add('a', 'x')).rejects.toMatchObject({ code: 'file.attempt-over' });
  expect(await totalsOf('artifacts')).toEqual({});
  await redis.zadd(keys.shard(0).leases, Date.now() + LATER_MS, by.lease);
  await add('a', 'first');
  await add('a', 'second');
  expect(await files.list(by.tenant, by.task, 'out')).toEqual(new Map([['a', expect.objectContaining({ bytes: 6, attempt: 1 })]]));
  // The one that was replaced has no task any more.
  await files.removeUnused(Date.now());
  expect(await totalsOf('artifacts')).toEqual({ files: '1', bytes: '6' });
  await add('b', 'x'.repeat(94));
  await expect(add('b', 'x'.repeat(95))).rejects.toMatchObject({ code: 'request.too-large' });
  await add('b', 'x');
  await files.removeUnused(Date.now());
  await expect(add('c', 'x')).rejects.toMatchObject({ code: 'request.too-large' });
  await files.removeUnused(Date.now());
  expect(await totalsOf('artifacts')).toEqual({ files: '2', bytes: '7' });
  await redis.zrem(keys.shard(0).leases, by.lease);
});

it('a removed task has no artifacts', async () => {
  const accepted = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'a' });
  const by = { tenant: 'default', task: accepted.id, attempt: 1, lease: `default/${accepted.id}/1` };
  await redis.zadd(keys.shard(0).leases, Date.now() + LATER_MS, by.lease);
  await files.add(by, 'out/a', { name: 'a', mediaType: 'text/plain' }, chunks('x'));
  await redis.zrem(keys.shard(0).leases, by.lease);
  await redis.hdel(keys.tenant('default').bodies, accepted.id);
  await files.removeUnused(Date.now() + LATER_MS);
  expect(await redis.exists(keys.tenant('default').taskFiles(accepted.id))).toBe(0);
  expect(await storedOf('default')).toEqual([]);
});

const keepRun = (task: string, content: string, lease = `kept/${task}/1`, tenant = 'kept'): Promise<void> =>
  files.keepRun({ tenant, task, attempt: 1, lease }, { of: 'session/a', agent: 'coder', note: { id: content } }, chunks(content), {
    maxBytes: 20,
    keepMs: 60_000,
  });
const hold = (lease: string): Promise<number> => redis.zadd(keys.shard(0).leases, Date.now() + LATER_MS, lease);
const keptText = async (): Promise<string | null> => {
  const kept = (await files.listKeptRuns('kept', 'session/a')).get('coder');
  const stream = kept && (await files.open({ tenant: 'kept', file: kept.file }));
  return stream ? await text(stream) : null;
};

describe('what a run leaves for the next one', () => {
  it('is taken of the attempt that holds the lease only, in the place of what was there', async () => {
    await expect(keepRun('t1', 'early')).rejects.toMatchObject({ code: 'file.attempt-over' });
    expect([await keptText(), await totalsOf('kept')]).toEqual([null, {}]);
    await hold('kept/t1/1');
    await hold('kept/t2/1');
    await keepRun('t1', 'first');
    await keepRun('t1', 'again');
    await keepRun('t2', 'next');
    await expect(keepRun('t1', 'late', 'kept/t1/0')).rejects.toMatchObject({ code: 'file.attempt-over' });
    expect((await files.listKeptRuns('kept', 'session/a')).get('coder')).toMatchObject({ task: 't2', note: { id: 'next' }, bytes: 4 });
    expect([await keptText(), await totalsOf('kept')]).toEqual(['next', { files: '1', bytes: '4' }]);
    expect(await storedOf('kept')).toHaveLength(1);
  });

  it('is the later of two that are kept at once, and the other leaves nothing', async () => {
    await hold('kept/t3/1');
    await Promise.all([keepRun('t3', 'one'), keepRun('t3', 'two')]);
    expect(['one', 'two']).toContain(await keptText());
    expect(await storedOf('kept')).toHaveLength(1);
  });

  it('is refused beyond its own bound, and not beyond that of other files', async () => {
    await hold('kept/t4/1');
    await expect(keepRun('t4', 'x'.repeat(21))).rejects.toMatchObject({ code: 'request.too-large' });
    await keepRun('t4', 'x'.repeat(20));
    expect(await keptText()).toHaveLength(20);
  });

  it('is removed after its time, although its task is kept', async () => {
    const task = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'a', scheduledFor: '2999-01-01T00:00:00Z' });
    await hold('default/lease');
    await files.keepRun(
      { tenant: 'default', task: task.id, attempt: 1, lease: 'default/lease' },
      { of: `task/${task.id}`, agent: 'coder', note: null },
      chunks('short'),
      { maxBytes: 20, keepMs: 2000 },
    );
    const [kept] = [...(await files.listKeptRuns('default', `task/${task.id}`)).values()];
    const isThere = async (): Promise<boolean> => {
      const stream = await files.open({ tenant: 'default', file: kept?.file ?? '' });
      stream?.destroy();
      return stream !== null;
    };
    expect(await isThere()).toBe(true);
    await expect
      .poll(
        async () => {
          await files.removeUnused(Date.now() + LATER_MS);
          return await isThere();
        },
        { timeout: 10_000 },
      )
      .toBe(false);
    expect(await files.listKeptRuns('default', `task/${task.id}`)).toEqual(new Map());
  });
});
