import type { Intake } from '../queue/index.ts';

export interface AgentQuestion {
  tenant: string;
  agent?: string | undefined;
  surface: string;
  channel?: string | undefined;
  user?: string | undefined;
}

/** Who answers a message: whom it names, else the first rule that fits, else the one for all, `assistant` or `echo`. */
export async function chooseAgent(parts: Intake, message: AgentQuestion): Promise<string> {
  if (message.agent !== undefined) return message.agent;
  const { agents, agent } = parts.ledger.settings.routing;
  const rule = agents.find(
    ({ surface, channel, user }) => fits(surface, message.surface) && fits(channel, message.channel) && fits(user, message.user),
  );
  const named = rule?.agent ?? agent;
  if (named !== undefined) return named;
  return (await parts.findAgent(message.tenant, 'assistant')) ? 'assistant' : 'echo';
}

/** What a rule does not name fits anything. */
function fits(wanted: string | undefined, actual: string | undefined): boolean {
  return wanted === undefined || wanted === actual;
}
