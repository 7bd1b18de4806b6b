import { describe, expect, it } from 'vitest';
import { createAgentRunners } from '#shared/agents/agent-kinds.ts';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { ModelCalls } from '#shared/models/model-calls.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { systemClock } from '#shared/time/clock.ts';
import { executeTicket, type ExecuteTicketParts } from '#shared/execution/execute-ticket.ts';
import { LeaseKeeper } from '#shared/execution/leases/lease-keeper.ts';
import { useParts } from '../../support/use-parts.ts';

const plans: AgentFunction = () => Promise.resolve('/schedule list');
const answers: AgentFunction = () => Promise.resolve('done');

const parts = await useParts({ agents: { planner: { kind: 'function', run: plans }, worker: { kind: 'function', run: answers } } });

function createExecutor(): ExecuteTicketParts {
  const { ledger, log, catalog } = parts;
  return {
    ledger,
    keeper: new LeaseKeeper({ ledger, clock: systemClock, log }),
    clock: systemClock,
    log,
    worker: 'tested',
    redact: (text) => text,
    catalog,
    spending: parts,
    fleetModels: () => expect.unreachable('these agents ask for no model'),
    modelCalls: new ModelCalls({ ...parts, settings: parts.config.settings }),
    runners: createAgentRunners({
      fleetId: () => Promise.resolve('f'),
      directory: '.',
      openaiBaseUrl: undefined,
      openaiApiKey: undefined,
      readSecret: () => undefined,
      allowNetworks: [],
      maxResponseBytes: 1000,
    }),
    schedules: openScheduleParts(parts),
    graceMs: 1000,
    onWaiting: () => undefined,
    isolation: () => 'full',
    runIsolated: () => Promise.reject(new Error('nothing is lost here')),
    isDraining: () => false,
  };
}

describe('executing a ticket', () => {
  it('releases an attempt that a mistake of ours keeps from its end, so that its lease runs out', async () => {
    const executor = createExecutor();
    const { keeper, schedules } = executor;
    Object.defineProperty(executor, 'schedules', {
      get: () => {
        if (keeper.running.length > 0) throw new Error('a mistake of ours');
        return schedules;
      },
    });
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'planner', input: 'plan' });
    await expect(executeTicket(executor, { tenant: 'default', task: id })).rejects.toThrow('a mistake of ours');
    expect(keeper.running).toEqual([]);
  });

  it('waits for a Redis that is away when it reads the agent of a tenant, and spends no attempt', async () => {
    let reads = 0;
    const find: ExecuteTicketParts['catalog']['find'] = () => {
      reads += 1;
      return reads === 1 ? Promise.reject(new Error('Connection is closed.')) : Promise.resolve(parts.catalog.configured('worker'));
    };
    const catalog: ExecuteTicketParts['catalog'] = Object.assign(Object.create(parts.catalog), { configured: () => null, find });
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work' });
    expect(await executeTicket({ ...createExecutor(), catalog }, { tenant: 'default', task: id })).toEqual({
      kind: 'done',
      note: 'completed',
    });
    expect(reads).toBe(2);
  });
});
