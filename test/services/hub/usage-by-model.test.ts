import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSpending } from '#shared/budgets/read-spending.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { usageDay } from '#shared/tasks/usage.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';
import { startMusterDaemon } from '../../support/daemons/daemon-process.ts';
import { startHubGateway } from '../../support/daemons/hub-gateway.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useFolder } from '../../support/use-folder.ts';
import { useParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const parts = await useParts({
  agents: { coder: { kind: 'daemon' } },
  models: {
    large: { inputUsdPerMTok: 3, outputUsdPerMTok: 15, cachedUsdPerMTok: 0.3 },
    small: { inputUsdPerMTok: 1, outputUsdPerMTok: 2 },
  },
  hub: { resendMs: 100, sweepMs: 200, graceMs: 20_000 },
});
const [hub, other] = [await startHub(parts), await startHub(parts)];
afterAll(() => Promise.all([hub.stop(), other.stop()]));
const folder = await useFolder();
// Commands run as another user where the tests are run by root.
await chmod(folder, 0o755);

/** What costs 30 + 270 + 1500, and 10 + 20 millionths of a dollar. */
const LARGE = { model: 'large', inputTokens: 1000 - 90, outputTokens: 100, cachedInputTokens: 900 };
const SMALL = { model: 'small', inputTokens: 10, outputTokens: 10 };
const COST = 30 + 270 + 1500 + 30;
/** Beside these a sum, which older hubs read. */
const USED = { inputTokens: 920, outputTokens: 110, cachedInputTokens: 900, byModel: [LARGE, SMALL] };
const PRICED = {
  inputTokens: 920,
  outputTokens: 110,
  cachedInputTokens: 900,
  costMicroUsd: COST,
  byModel: { large: { costMicroUsd: COST - 30, cachedInputTokens: 900 }, small: { costMicroUsd: 30 } },
};

interface Running {
  tenant: string;
  secret: string;
  id: string;
  name: { taskId: string; token: number };
  daemon: RawDaemon;
}

/** Tenants under a budget of their own. */
async function useTenant(tenant: string, hardMicroUsd = 1_000_000): Promise<string> {
  await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', hardMicroUsd }));
  return (await registerDaemon(parts, { tenant })).token;
}

/** A task that runs on a daemon at the first hub. */
async function startTask(tenant: string, hardMicroUsd?: number): Promise<Running> {
  const secret = await useTenant(tenant, hardMicroUsd);
  const daemon = await RawDaemon.welcomed(hub.url, secret);
  const { id } = await acceptTask(parts, { tenant, agent: 'coder', input: 'write it', execution: { maxAttempts: 1 } });
  const { token } = await daemon.accept();
  return { tenant, secret, id, name: { taskId: id, token }, daemon };
}

async function spent(tenant: string): Promise<number> {
  const [budget] = await parts.budgets.of(tenant);
  if (budget === undefined) throw new Error(`${tenant} has no budget`);
  return (await readSpending(parts, tenant, budget)).spentMicroUsd;
}

const spends = async (tenant: string, costMicroUsd: number): Promise<boolean> =>
  await waitFor(async () => (await spent(tenant)) === costMicroUsd, {
    deadlineMs: 10_000,
    what: `${tenant} to have spent ${costMicroUsd}`,
  });

const rowsOf = async (tenant: string): Promise<Record<string, string>> =>
  await parts.redis.hgetall(parts.keys.tenant(tenant).usageDay(usageDay(Date.now())));

describe('what an attempt on a daemon used', () => {
  it('is priced by the model of each and with cached input, while it runs and at its end, once', async () => {
    const { tenant, id, name, daemon } = await startTask('both');
    daemon.send({ type: 'task.usage', ...name, usage: SMALL });
    expect(await spends(tenant, 30)).toBe(true);
    for (let count = 0; count < 2; count += 1) daemon.send({ type: 'task.usage', ...name, usage: USED });
    expect(await spends(tenant, COST)).toBe(true);
    daemon.send({ type: 'task.completed', ...name, output: 'done', usage: USED });
    const { state } = await awaitEnd(parts, id, tenant);
    expect(state).toMatchObject({ status: 'completed', usage: PRICED });
    expect(await spent(tenant)).toBe(COST);
    expect(await rowsOf(tenant)).toEqual({
      'coder|api|large': `910 100 900 0 ${COST - 30} 0 0 0 1`,
      'coder|api|small': '10 10 0 0 30 0 0 0 0',
    });
    daemon.vanish();
  });

  it('counts in the end alone, where only that says it, also of a failure', async () => {
    const { tenant, id, name, daemon } = await startTask('failed');
    daemon.send({ type: 'task.failed', ...name, error: { code: 'NO_DISK', retryable: false }, usage: USED });
    expect((await awaitEnd(parts, id, tenant)).state).toMatchObject({ error: { code: 'NO_DISK' }, usage: PRICED });
    expect(await spent(tenant)).toBe(COST);
    daemon.vanish();
  });

  it('stops it by the price of each model when that uses up a budget', async () => {
    const { tenant, id, name, daemon } = await startTask('bounded', COST);
    daemon.send({ type: 'task.usage', ...name, usage: { ...USED, byModel: [LARGE] } });
    expect(await spends(tenant, COST - 30)).toBe(true);
    daemon.send({ type: 'task.usage', ...name, usage: USED });
    expect(await daemon.next('task.cancel')).toMatchObject({ ...name, reason: expect.stringContaining('Budget "all"') as string });
    daemon.send({ type: 'task.failed', ...name, error: { code: 'CANCELLED' } });
    expect((await awaitEnd(parts, id, tenant)).state).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' }, usage: PRICED });
    daemon.vanish();
  });

  it('lets an attempt complete whose last message is the one that uses up a budget', async () => {
    const { tenant, id, name, daemon } = await startTask('just', COST);
    daemon.send({ type: 'task.completed', ...name, output: 'done', usage: USED });
    expect((await awaitEnd(parts, id, tenant)).state).toMatchObject({ status: 'completed', usage: PRICED });
    expect(await spent(tenant)).toBe(COST);
    daemon.vanish();
  });

  it('is of one model where an older daemon says it', async () => {
    const { tenant, id, name, daemon } = await startTask('older');
    const usage = { inputTokens: 10, outputTokens: 10, model: 'small' };
    daemon.send({ type: 'task.usage', ...name, usage });
    expect(await spends(tenant, 30)).toBe(true);
    daemon.send({ type: 'task.completed', ...name, output: 'done', usage });
    expect((await awaitEnd(parts, id, tenant)).state.usage).toEqual({
      inputTokens: 10,
      outputTokens: 10,
      costMicroUsd: 30,
      byModel: { small: { inputTokens: 10, outputTokens: 10, costMicroUsd: 30 } },
    });
    daemon.vanish();
  });

  it('is refused with a code where it is none, and the attempt goes on', async () => {
    const { tenant, id, name, daemon } = await startTask('refused');
    const byModel = Array.from({ length: 51 }, (_, at) => ({ model: `m${at}`, inputTokens: 1 }));
    daemon.send({ type: 'task.usage', ...name, usage: { byModel } });
    expect(await daemon.next('error')).toMatchObject({
      code: 'message.invalid',
      message: expect.stringContaining('usage.byModel') as string,
    });
    daemon.send({ type: 'task.completed', ...name, output: 'done', usage: { byModel: [{ model: 'constructor', inputTokens: 1 }, SMALL] } });
    expect((await awaitEnd(parts, id, tenant)).state).toMatchObject({
      status: 'completed',
      usage: { inputTokens: 11, costMicroUsd: null },
    });
    expect(await rowsOf(tenant)).toMatchObject({ 'coder|api|constructor': '1 0 0 0 0 1 0 0 1' });
    daemon.vanish();
  });

  it.each([
    ['a usage that no attempt has', { output: 'done', usage: { inputTokens: 2e12 } }, { status: 'completed' }],
    ['an output that is no text', { output: 5 }, { status: 'permanently_failed', error: { code: 'AGENT_ERROR' } }],
  ])('ends its attempt although the end has %s, and counts what was reported before', async (what, end, expected) => {
    const { tenant, id, name, daemon } = await startTask(what.replaceAll(/\W/g, '-'));
    daemon.send({ type: 'task.usage', ...name, usage: USED });
    expect(await spends(tenant, COST)).toBe(true);
    daemon.send({ type: 'task.completed', ...name, ...end } as never);
    expect(await daemon.next('error')).toMatchObject({ code: 'message.invalid' });
    expect((await awaitEnd(parts, id, tenant)).state).toMatchObject({ ...expected, usage: PRICED });
    daemon.vanish();
  });

  it('keeps a cost that the next report of the model lacks', async () => {
    const { tenant, id, name, daemon } = await startTask('half-priced');
    const byModel = [
      { model: 'unlisted', inputTokens: 5, costMicroUsd: 40 },
      { model: 'unlisted', inputTokens: 7 },
    ];
    daemon.send({ type: 'task.usage', ...name, usage: { byModel } });
    expect(await spends(tenant, 40)).toBe(true);
    daemon.send({ type: 'task.completed', ...name, output: 'done', usage: { byModel } });
    const { usage } = (await awaitEnd(parts, id, tenant)).state;
    expect(usage).toMatchObject({
      inputTokens: 12,
      costMicroUsd: null,
      byModel: { unlisted: { costMicroUsd: null, knownCostMicroUsd: 40 } },
    });
    expect(await spent(tenant)).toBe(40);
    expect(await rowsOf(tenant)).toEqual({ 'coder|api|unlisted': '12 0 0 0 40 1 0 0 1' });
    daemon.vanish();
  });

  it('is not lost at another hub, although its daemon says nothing more of it', async () => {
    const { tenant, secret, id, name, daemon } = await startTask('moved');
    daemon.send({ type: 'task.usage', ...name, usage: USED });
    expect(await spends(tenant, COST)).toBe(true);
    const again = await RawDaemon.welcomed(other.url, secret, { running: [name] });
    await cancelTask(parts.ledger, { tenant, id, lane: null }, 'enough');
    await again.next('task.cancel');
    again.send({ type: 'task.failed', ...name, error: { code: 'CANCELLED' } });
    const { state, attempts } = await awaitEnd(parts, id, tenant);
    // More may have been used since.
    expect(state).toMatchObject({ status: 'cancelled', usage: { ...PRICED, isEstimated: true } });
    expect(attempts).toHaveLength(1);
    expect(await spent(tenant)).toBe(COST);
    again.vanish();
  });
});

/** Uses both models, waits for a file, and uses the small one again. */
const WORK = `
  echo 'muster-usage ${JSON.stringify(LARGE)}' >&2
  echo 'muster-usage ${JSON.stringify(SMALL)}' >&2
  while [ ! -e "$0" ]; do sleep 0.1; done
  echo 'muster-usage ${JSON.stringify(SMALL)}' >&2
  sleep 0.2
  echo done`;

describe('what a command of `muster daemon` used', () => {
  it('counts by model and once, although the daemon went from one hub to another meanwhile', { timeout: 90_000 }, async () => {
    const tenant = 'process';
    const gateway = await startHubGateway();
    gateway.lead([hub]);
    const goOn = join(folder, 'go-on');
    const token = await useTenant(tenant);
    const daemon = startMusterDaemon(['--', 'sh', '-c', WORK, goOn], { hub: gateway.url, token, folder });
    try {
      await daemon.prints('Connected to');
      const { id } = await acceptTask(parts, { tenant, agent: 'coder', input: 'write it', execution: { maxAttempts: 1 } });
      expect(await spends(tenant, COST)).toBe(true);
      gateway.lead([other]);
      const before = daemon.lines.length;
      gateway.cutAll();
      await daemon.prints('Connected to', before);
      await writeFile(goOn, '');
      const { state, attempts } = await awaitEnd(parts, id, tenant);
      expect(state).toMatchObject({
        status: 'completed',
        usage: {
          costMicroUsd: COST + 30,
          byModel: { large: { costMicroUsd: COST - 30, cachedInputTokens: 900 }, small: { costMicroUsd: 60 } },
        },
      });
      expect(state.usage).not.toHaveProperty('isEstimated');
      expect(attempts).toHaveLength(1);
      expect(await spent(tenant)).toBe(COST + 30);
      expect(await rowsOf(tenant)).toEqual({
        'coder|api|large': `910 100 900 0 ${COST - 30} 0 0 0 1`,
        'coder|api|small': '20 20 0 0 60 0 0 0 0',
      });
    } finally {
      await writeFile(goOn, '');
      daemon.signal('SIGKILL');
      await daemon.ended;
      await gateway.close();
    }
  });
});
