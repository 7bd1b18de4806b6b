import { afterEach, describe, expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { acceptingTwice } from './accepting-twice.ts';

const TENANT = 'default';
const MAX_MADE = 20;
const HOUR_MS = 3_600_000;

const parts = await useEmptyParts({ runaways: { maxMadePerMinute: MAX_MADE, maxTreeMs: HOUR_MS } });

const submit = async (parentTaskId?: string, intake = parts): Promise<string> =>
  (await acceptTask(intake, { tenant: TENANT, agent: 'echo', input: 'x', ...(parentTaskId === undefined ? {} : { parentTaskId }) })).id;

const tree = async (root: string): Promise<Record<string, string>> => await parts.redis.hgetall(parts.keys.tenant(TENANT).taskTree(root));

const notices = async (): Promise<number> => {
  const entries = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
  return entries.filter(([, fields]) => fields.includes('task.runaway')).length;
};

describe('tasks that tasks of one tenant make within a minute', () => {
  it('are cut below the root that made most of them, so that others go on', async () => {
    const [loud, quiet] = [await submit(), await submit()];
    for (let made = 0; made < MAX_MADE - 1; made += 1) await submit(loud);
    await submit(quiet);
    await submit(quiet);
    expect((await tree(loud))['cut']).toBe(
      `Runaway: tasks made more than ${MAX_MADE} others within a minute, ${MAX_MADE - 1} of them below task ${loud}`,
    );
    expect(await tree(quiet)).toMatchObject({ tasks: '2' });
    expect(await tree(quiet)).not.toHaveProperty('cut');
    await expect(submit(loud)).rejects.toMatchObject({ code: 'task.runaway' });
    expect(await notices()).toBe(1);
  });

  it('are cut with their chain when the request itself is below that root', async () => {
    const loud = await submit();
    const child = await submit(loud);
    for (let made = 1; made < MAX_MADE; made += 1) await submit(loud);
    await expect(submit(child)).rejects.toMatchObject({
      code: 'task.runaway',
      message: expect.stringMatching(/20 of them below task \w+: echo > echo > echo \(2 delegations below task/),
    });
  });

  it('are refused for the rest of the minute when no root made many of them', async () => {
    const roots = await Promise.all(Array.from({ length: MAX_MADE }, () => submit()));
    for (const root of roots) await submit(root);
    const refusal = submit(roots[0]);
    await expect(refusal).rejects.toMatchObject({ code: 'limit.rate', details: { scope: 'delegation' }, retryAfterMs: expect.any(Number) });
    expect(await notices()).toBe(0);
  });

  it('are forgotten with the minute', async () => {
    await submit(await submit());
    const left = await parts.redis.pttl(parts.keys.tenant(TENANT).delegated);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
  });
});

describe('a task that leads to others for too long', () => {
  it('is cut', async () => {
    const root = await submit();
    await submit(root);
    const { taskTree } = parts.keys.tenant(TENANT);
    await parts.redis.hincrby(taskTree(root), 'since', -HOUR_MS - 1);
    await expect(submit(root)).rejects.toMatchObject({
      code: 'task.runaway',
      message: expect.stringContaining(`one task led to others for more than ${HOUR_MS} ms: echo > echo (1 delegations`),
    });
    expect(await notices()).toBe(1);
  });
});

describe('a task that is refused', () => {
  afterEach(async () => await parts.fleetLimits.reset());

  it('does not count among the tasks below its root, whoever refuses it', async () => {
    const root = await submit();
    await submit(root);
    await parts.fleetLimits.change({ rates: { all: { perMinute: 1, perHour: 1000, burst: 1 } } }, null);
    await submit(root);
    await expect(submit(root)).rejects.toMatchObject({ code: 'limit.rate', details: { scope: 'fleet' } });
    expect(await tree(root)).toMatchObject({ tasks: '2' });
  });

  it('does not count either when it was accepted before under its key', async () => {
    const root = await submit();
    const request = { tenant: TENANT, agent: 'echo', input: 'x', parentTaskId: root, idempotencyKey: 'k' };
    const { id } = await acceptTask(parts, request);
    expect(await acceptTask(parts, request)).toMatchObject({ id, isDuplicate: true });
    expect(await tree(root)).toMatchObject({ tasks: '1' });
  });

  it('counts when its acceptance was sent again, because the reply was lost', async () => {
    const root = await submit();
    await submit(root, { ...parts, ledger: acceptingTwice(parts.ledger) });
    expect(await tree(root)).toMatchObject({ tasks: '1' });
  });
});
