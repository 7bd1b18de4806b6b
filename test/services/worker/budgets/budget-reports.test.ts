import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import { readSpending } from '#shared/budgets/read-spending.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { Task } from '#shared/tasks/task.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { useParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { awaitEndOrHold } from '../../../support/agents/await-task.ts';

/** Of each report. */
const COST = 100_000;
const used = { inputTokens: 1, outputTokens: 1, costMicroUsd: COST };
const report = `event: usage\ndata: ${JSON.stringify(used)}\n\n`;
const line = `muster-usage ${JSON.stringify(used)}`;

/** Reports twice, and then works until it is stopped. */
const reportTwice = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(report);
  response.write(report);
};
const endpoint = await startFakeHttpEndpoint(reportTwice);
afterAll(() => endpoint.close());

const reports: AgentFunction = async (_task, { reportUsage, signal }) => {
  reportUsage(used);
  reportUsage(used);
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
};

const parts = await useParts({
  agents: {
    remote: { kind: 'http', url: endpoint.url },
    local: { kind: 'function', run: reports },
    program: {
      kind: 'command',
      command: ['sh', '-c', `echo '${line}' >&2; echo '${line}' >&2; exec sleep 60`],
      env: { PATH: '/usr/bin:/bin' },
    },
  },
  outbound: { allowNetworks: ['127.0.0.0/8'] },
});
await useWorker(parts);

async function run(tenant: string, agent: string, rule: object): Promise<Task> {
  await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', hardMicroUsd: 2 * COST, ...rule }));
  const { id } = await acceptTask(parts, { tenant, agent, input: 'x' });
  return await awaitEndOrHold(parts, id, tenant);
}

async function spent(tenant: string): Promise<object> {
  const [budget] = await parts.budgets.of(tenant);
  if (budget === undefined) throw new Error(`${tenant} has no budget`);
  return await readSpending(parts, tenant, budget);
}

describe('an attempt whose reports use up a budget', () => {
  it.each(['remote', 'local', 'program'])('is stopped and fails for good where the budget denies (agent %s)', async (agent) => {
    const { state } = await run(`denied-${agent}`, agent, {});
    expect(state).toMatchObject({
      status: 'permanently_failed',
      error: { code: 'BUDGET_EXCEEDED', message: 'Budget "all" has $0.20 spent in all, of $0.20', retryable: false },
      usage: { costMicroUsd: 2 * COST },
    });
    expect(await spent(`denied-${agent}`)).toMatchObject({ spentMicroUsd: 2 * COST, reservedMicroUsd: 0 });
  });

  it('is stopped and held where the budget pauses, and what it cost counts once', async () => {
    const { state } = await run('paused', 'remote', { atHard: 'pause' });
    expect(state).toMatchObject({ status: 'queued', gate: 'budget', hold: { gate: 'budget', what: 'all' } });
    expect(await spent('paused')).toMatchObject({ spentMicroUsd: 2 * COST, reservedMicroUsd: 0, held: 1 });
  });
});
