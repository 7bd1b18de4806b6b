import { describe, expect, it } from 'vitest';
import { createAgentRunners } from '#shared/agents/agent-kinds.ts';
import type { AgentFunction } from '#shared/config/agent-function.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { systemClock } from '#shared/time/clock.ts';
import { handleTicket, type HandleTicketParts } from '../../../services/worker/handle-ticket.ts';
import { LeaseKeeper } from '../../../services/worker/lease-keeper.ts';
import { useParts } from '../../support/use-parts.ts';

const plans: AgentFunction = () => Promise.resolve('/schedule list');

const parts = await useParts({ agents: { planner: { kind: 'function', run: plans } } });

describe('an attempt that cannot be brought to its end', () => {
  it('is let go, so that its lease runs out', async () => {
    const { ledger, log, catalog } = parts;
    const keeper = new LeaseKeeper({ ledger, clock: systemClock, log });
    const handling: HandleTicketParts = {
      ledger,
      keeper,
      clock: systemClock,
      log,
      worker: 'tested',
      redact: (text) => text,
      catalog,
      runners: createAgentRunners({
        directory: '.',
        openaiBaseUrl: undefined,
        openaiApiKey: undefined,
        readSecret: () => undefined,
        allowNetworks: [],
        maxResponseBytes: 1000,
      }),
      // Stands for any mistake between the agent's answer and its settling.
      get schedules(): HandleTicketParts['schedules'] {
        if (keeper.running.length > 0) throw new Error('a mistake of ours');
        return openScheduleParts(parts);
      },
      graceMs: 1000,
      onWaiting: () => undefined,
      isolation: () => 'full',
      runIsolated: () => Promise.reject(new Error('nothing is lost here')),
      isDraining: () => false,
    };
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'planner', input: 'plan' });
    await expect(handleTicket(handling, { tenant: 'default', task: id })).rejects.toThrow('a mistake of ours');
    expect(keeper.running).toEqual([]);
  });
});
