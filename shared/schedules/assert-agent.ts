import { MusterError } from '../errors/index.ts';
import type { Intake } from '../queue/index.ts';

/** Throws `agent.unknown` for an agent that the tenant does not have, so that its owner finds out now and not when it fires. */
export async function assertAgent(parts: Pick<Intake, 'findAgent'>, tenant: string, agent: string): Promise<void> {
  if ((await parts.findAgent(tenant, agent)) === null) {
    throw new MusterError('agent.unknown', `There is no agent "${agent}"`, { details: { agent } });
  }
}
