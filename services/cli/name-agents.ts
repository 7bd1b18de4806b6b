import { z } from 'zod';
import type { ApiClient } from './api-client.ts';
import { CliProblem } from './cli-problem.ts';

const agentsSchema = z.object({ items: z.array(z.object({ id: z.string() })) });

/** The agent of the configuration that ships which is not always there. */
const OPTIONAL = 'assistant';

/** Passes a call's answer on. Below the refusal of an agent that is not there it says which are. */
export async function nameAgents(api: ApiClient, agent: string, call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof CliProblem) || error.code !== 'agent.unknown') throw error;
    const ids = await agentIds(api);
    const lines = [
      ...(ids.length === 0 ? [] : [`There are: ${ids.join(', ')}`]),
      ...(agent === OPTIONAL ? ['This one is there when the fleet starts with OPENAI_BASE_URL or OPENAI_API_KEY set.'] : []),
    ];
    throw new CliProblem(error.message, { exitCode: error.exitCode, code: error.code, lines, cause: error });
  }
}

/** None when the server does not say: the refusal itself is what counts. */
async function agentIds(api: ApiClient): Promise<string[]> {
  const answer = await api.get('/v1/agents').catch(() => null);
  return agentsSchema.safeParse(answer).data?.items.map(({ id }) => id) ?? [];
}
