import { describe, expect, it } from 'vitest';
import { appendOutput } from '#shared/ledger/read/run-log.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { scanKeys } from '#shared/redis/replies.ts';
import { endTenant } from '#shared/tenants/end-tenant.ts';
import { createWorkerService } from '../../../../services/worker/create-worker-service.ts';
import { askQuestion } from '../../../support/agents/ask-question.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import type { Api } from '../support/start-api.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();

/**
 * Every key, and every member of the sets and hashes that tenants share, that names this tenant. BullMQ's own are not among them, and
 * not that it ended.
 */
async function tracesOf(tenant: string): Promise<string[]> {
  const client = api.parts.redis;
  const { endedTenants, tenantsToClean, tenantGenerations } = api.parts.keys.fleet;
  const ends = new Set([endedTenants, tenantsToClean, tenantGenerations, api.parts.keys.shard(0).tenantStates]);
  const found: string[] = [];
  for await (const keys of scanKeys(client, '*')) {
    for (const key of keys.filter((name) => !name.includes(':bull') && !ends.has(name))) {
      if (key.includes(tenant)) found.push(key);
      const type = await client.type(key);
      const members =
        type === 'zset' ? await client.zrange(key, '0', '-1') : type === 'hash' ? Object.entries(await client.hgetall(key)).flat() : [];
      found.push(...members.filter((member) => member.includes(tenant)).map((member) => `${key}: ${member}`));
    }
  }
  return found;
}

describe('deleting a tenant', () => {
  it('ends what runs, and leaves no trace of what it owned', async () => {
    await api.call('POST', '/v1/tenants', { body: { id: 'leaving' } });
    const key = (await api.call('POST', '/v1/tenants/leaving/keys', { body: { name: 'k', scopes: ['operate'] } })).body.secret;
    const own = (method: string, path: string, body: unknown): ReturnType<Api['call']> => api.call(method, path, { key, body });
    await own('PUT', '/v1/agents/mine', { kind: 'echo', maxRunning: 5 });
    await own('POST', '/v1/schedules', { every: '1h', agent: 'echo', message: 'hello' });
    await own('PUT', '/v1/sessions/s/mode', { mode: 'latest' });
    await own('POST', '/v1/sessions/s/visitors', {});
    const running = await own('POST', '/v1/tasks', {
      agent: 'echo',
      input: 'a b c d e f g h',
      session: 's',
      context: { paceMs: 60_000 },
      callbackUrl: 'https://example.com/x',
    });
    expect((await own('POST', '/v1/tasks', { agent: 'echo', input: 'waits', session: 's', deadline: '2999-01-01T00:00:00Z' })).status).toBe(
      202,
    );
    const tenant = api.parts.tenants.find('leaving')?.id ?? '';
    const asking = await acceptTask(api.parts, {
      tenant,
      agent: 'echo',
      input: 'x',
      session: 'asked',
      callbackUrl: 'https://example.com/x',
    });
    await askQuestion(api.parts, await driveTasks(api.parts, tenant).start(asking.id), { question: 'Go on?' });
    const worker = createWorkerService(api.parts);
    await worker.start();
    try {
      await waitFor(async () => (await api.call('GET', `/v1/tasks/${running.body.id}`, { key })).body.status === 'running', {
        deadlineMs: 10_000,
        what: 'the task to run',
      });
      expect((await tracesOf('leaving')).length).toBeGreaterThan(10);

      expect((await api.call('DELETE', '/v1/tenants/leaving')).status).toBe(204);
      expect((await api.call('GET', '/v1/tasks', { key })).status).toBe(401);
      expect((await api.call('GET', '/v1/tenants/leaving')).body.code).toBe('tenant.not-found');
    } finally {
      await worker.stop(5000);
    }
    expect(await tracesOf('leaving')).toEqual([]);
  });

  it('leaves no trace of tasks that begin and end meanwhile', async () => {
    const { ledger } = api.parts;
    for (let round = 0; round < 5; round += 1) {
      await api.call('POST', '/v1/tenants', { body: { id: 'leaving' } });
      const tenant = api.parts.tenants.find('leaving');
      const request = { tenant: tenant?.id ?? '', agent: 'echo', input: 'hello' };
      const ids = await Promise.all(Array.from({ length: 40 }, async () => (await acceptTask(api.parts, request)).id));
      await api.parts.relay.idle();
      const work = async (id: string): Promise<void> => {
        const place = { tenant: request.tenant, id, lane: null };
        const claim = await claimTask(ledger, place, 'w1');
        if (claim.kind !== 'claimed') return;
        const attempt = { ...place, token: 1 };
        await appendOutput(ledger, attempt, { attempt: 1, seq: 1, text: 'said' });
        await settleAttempt(ledger, attempt, { kind: 'completed', output: 'said', result: JSON.stringify({ of: id }), usage: null });
      };
      const working = (async () => {
        for (const id of ids) await work(id);
      })();
      await Promise.all([working, tenant && endTenant(api.parts, tenant)]);
      expect(await tracesOf('leaving')).toEqual([]);
    }
  });

  it('is refused for the tenant `default`, for keys of other tenants, and for one that is not there', async () => {
    expect((await api.call('DELETE', '/v1/tenants/default')).body.code).toBe('request.invalid');
    expect((await api.call('DELETE', '/v1/tenants/nobody')).body.code).toBe('tenant.not-found');
    await api.call('POST', '/v1/tenants', { body: { id: 'other' } });
    const outsider = (await api.call('POST', '/v1/tenants/other/keys', { body: { name: 'k', scopes: ['admin'] } })).body.secret;
    expect((await api.call('DELETE', '/v1/tenants/other', { key: outsider })).status).toBe(403);
    expect((await api.call('GET', '/v1/tenants/other')).status).toBe(200);
  });
});
