import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { pauseAgent, resumeAgent } from '#shared/ledger/index.ts';
import { agentNotFound, agentPathSchema, type AgentPorts, agentViewSchema, readHolds, viewAgent } from './agent-view.ts';

const MAX_REASON = 300;

const reasonSchema = z
  .strictObject({ reason: z.string().trim().min(1).max(MAX_REASON).optional().meta({ description: 'For people who ask why tasks wait.' }) })
  .meta({ id: 'AgentPause', examples: [{ reason: 'The release of this morning broke it' }] });

const SUMMARIES = {
  pause: "Start no more of the tenant's tasks of an agent",
  resume: 'Start the tasks of an agent again',
};

/**
 * `POST /v1/agents/:id/pause`: its tasks of this tenant are held with the gate `agent`, at the latest a second later; what runs goes on.
 * `/resume` releases them in their order, and also what the failures of the agent hold. Each may come again.
 */
export function switchAgent({ catalog, ledger }: AgentPorts, action: 'pause' | 'resume'): Route {
  return route({
    method: 'post',
    path: `/v1/agents/:id/${action}`,
    operationId: `${action}Agent`,
    summary: SUMMARIES[action],
    scope: 'operate',
    errors: ['agent.not-found'],
    request: { params: agentPathSchema, body: reasonSchema.optional() },
    responses: { 200: agentViewSchema },
    handle: async ({ params: { id }, body }, { tenant, key, log }) => {
      const entry = await catalog.find(tenant, id);
      if (!entry) throw agentNotFound(id);
      const of = { tenant, agent: id };
      if (action === 'resume') await resumeAgent(ledger, of);
      else await pauseAgent(ledger, of, { at: Date.now(), by: key?.name ?? 'a key', reason: body?.reason ?? null });
      log.info({ event: `agent.${action}d`, agent: id, by: key?.id }, `The agent ${id} was ${action}d`);
      const holdOf = await readHolds(ledger, tenant);
      return { status: 200, body: viewAgent(entry, holdOf(id), ledger.settings) };
    },
  });
}
