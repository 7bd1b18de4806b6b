import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tenantLimitsSchema } from '#shared/config/settings/limits-settings.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { acceptNewTask, offerMessage } from '#shared/ledger/accept/accept-task.ts';
import { appendOutput } from '#shared/ledger/read/run-log.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { leaseMember, renewLeases } from '#shared/ledger/claim/leases.ts';
import { cancelSubTask, cancelTask, changePriority, expireDeadline, reopenTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { listEnded, removeTask } from '#shared/ledger/ended-tasks.ts';
import { createLedger, type Ledger } from '#shared/ledger/ledger.ts';
import { closeCancel, takeOpenCancel } from '#shared/ledger/settle/open-cancels.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { reissueTicket } from '#shared/ledger/grants/repair-tickets.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { measureTenant } from '#shared/ledger/tenants/storage.ts';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aTask, DONE, retry } from './support/test-ledger.ts';

const SHARDS = 4;
const LANE = { name: 'session:s', limit: 1 };
const TENANTS = ['acme', 'gamma', 'blue', 'kappa', 'tau', 'c'];
const log = createLog({ level: 'silent', service: 'test' });

let server: RedisServer;
let redis: RedisClient;
let ledger: Ledger;

beforeAll(async () => {
  server = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] });
  const node = connectRedis({ url: server.url, name: 'node', log });
  await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  const isComplete = async (): Promise<boolean> => String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok');
  await waitFor(isComplete, { deadlineMs: 10_000, what: 'the cluster' });
  node.disconnect();
  redis = connectRedis({ url: server.url.replace('redis://', 'redis+cluster://'), name: 'test', log });
  const limits = tenantLimitsSchema.parse({});
  ledger = createLedger({
    redis,
    keys: createKeys(SHARDS),
    settings: settingsSchema.parse({}),
    limitsOf: () => limits,
    onTicket: () => undefined,
  });
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describe('on a Redis Cluster, where a script may touch one slot only', () => {
  it('has tenants on every shard', () => {
    expect(new Set(TENANTS.map((tenant) => ledger.keys.shardOf(tenant))).size).toBe(SHARDS);
  });

  it.each(TENANTS)('takes a task of tenant %s through everything that can happen to it', async (tenant) => {
    const soon = Date.now() + 60_000;
    const task = aTask({ tenant, lane: LANE, key: 'k', deadline: soon, correlationId: 'c' });
    const place = { tenant, id: task.body.id, lane: LANE.name };
    expect((await acceptNewTask(ledger, task)).kind).toBe('accepted');
    const next = aTask({ tenant, lane: LANE });
    expect((await acceptNewTask(ledger, next)).kind).toBe('accepted');
    expect((await changePriority(ledger, tenant, place.id, { priority: 9, queue: 'tasks', class: 'u1' })).kind).toBe('changed');
    expect(await reissueTicket(ledger, tenant, { task: place.id, number: 2 })).toMatchObject({ ticket: 2 });
    expect(await expireDeadline(ledger, place)).toBe('kept');
    const claim = await claimTask(ledger, place, 'w');
    const attempt = { ...place, token: claim.kind === 'claimed' ? claim.state.token : 0 };
    expect(await appendOutput(ledger, attempt, { attempt: 1, seq: 1, text: 'a' })).toBe(true);
    expect(await renewLeases(ledger, ledger.keys.shardOf(tenant), [leaseMember(attempt)])).toEqual(['held']);
    expect(await expireLease(ledger, attempt)).toBe('held');
    expect(await settleAttempt(ledger, attempt, retry(null))).toMatchObject({ status: 'permanently_failed' });
    expect(await reopenTask(ledger, place)).toEqual({ kind: 'reopened', status: 'pending' });
    const nextPlace = { ...place, id: next.body.id };
    const nextClaim = await claimTask(ledger, nextPlace, 'w');
    const nextToken = nextClaim.kind === 'claimed' ? nextClaim.state.token : 0;
    expect(await settleAttempt(ledger, { ...nextPlace, token: nextToken }, DONE)).toMatchObject({ status: 'completed' });
    expect(await cancelTask(ledger, place, 'no')).toEqual({ kind: 'cancelled', open: null });
    expect(await measureTenant(ledger, tenant)).toBeGreaterThan(500);
    const { items } = await listTasks(ledger, tenant, {}, { limit: 10 });
    expect(items.map(({ body, state }) => [body.id, state.status])).toEqual([
      [next.body.id, 'completed'],
      [place.id, 'cancelled'],
    ]);
    for (const item of items) expect(await removeTask(ledger, item)).toBe(true);
    expect(await readTask(ledger, tenant, place.id)).toBeNull();
  });

  it.each(TENANTS)('keeps the cancel of a task of tenant %s open for its sub-tasks', async (tenant) => {
    const parent = aTask({ tenant });
    const child = aTask({ tenant, parentTaskId: parent.body.id, source: 'delegation' });
    for (const task of [parent, child]) expect((await acceptNewTask(ledger, task)).kind).toBe('accepted');
    const { open } = await cancelTask(ledger, { tenant, id: parent.body.id, lane: null }, 'no');
    const now = Date.now() + 60_000;
    expect(await takeOpenCancel(ledger, ledger.keys.shardOf(tenant), { before: now, now })).toEqual(open);
    expect(await cancelSubTask(ledger, { tenant, id: child.body.id, lane: null }, 'no')).toEqual({ kind: 'cancelled', open: null });
    await closeCancel(ledger, { tenant, id: parent.body.id, reason: 'no' });
    expect(await takeOpenCancel(ledger, ledger.keys.shardOf(tenant), { before: now, now })).toBeNull();
  });

  it.each(TENANTS)('keeps the cancel of a task that a message of tenant %s stopped open for its sub-tasks', async (tenant) => {
    const wish = { tenant, lane: { name: 'session:tree', limit: 1 } };
    const parent = aTask(wish);
    for (const task of [parent, aTask({ tenant, parentTaskId: parent.body.id, source: 'delegation' })])
      expect((await acceptNewTask(ledger, task)).kind).toBe('accepted');
    expect((await acceptNewTask(ledger, aTask({ ...wish, mode: 'interrupt' }))).kind).toBe('accepted');
    const now = Date.now() + 60_000;
    const open = await takeOpenCancel(ledger, ledger.keys.shardOf(tenant), { before: now, now });
    expect(open).toEqual({ tenant, id: parent.body.id, reason: 'a newer message took its place' });
  });

  it.each(TENANTS)('takes messages of tenant %s through their modes', async (tenant) => {
    const wish = { tenant, lane: { name: 'session:modes', limit: 1 }, takesInput: true, callbackUrl: 'http://127.0.0.1/' };
    const first = aTask(wish);
    expect((await acceptNewTask(ledger, first)).kind).toBe('accepted');
    const place = { tenant, id: first.body.id, lane: wish.lane.name };
    const claim = await claimTask(ledger, place, 'w');
    const attempt = { ...place, token: claim.kind === 'claimed' ? claim.state.token : 0 };
    expect(await offerMessage(ledger, aTask({ ...wish, mode: 'steer' }), first.body.id)).toMatchObject({ gate: 'steer' });
    expect(await takeInput(ledger, attempt, 'steered', 5)).toMatchObject({ kind: 'taken', inputs: [{ how: 'steered' }] });
    for (const mode of ['queue', 'collect', 'latest', 'interrupt'] as const) {
      expect((await acceptNewTask(ledger, aTask({ ...wish, mode }))).kind).toBe('accepted');
    }
    expect(await settleAttempt(ledger, attempt, retry(0))).toMatchObject({ status: 'cancelled' });
    const ended = await listEnded(ledger, ledger.keys.shardOf(tenant), 'callback', 100);
    expect(ended.filter((each) => each.tenant === tenant)).toHaveLength(5);
  });
});
