import { MusterError } from '#shared/errors/index.ts';
import type { HookRouteParts } from './hook-route-parts.ts';

/** Throws `agent.unknown` for an agent that the tenant's catalog lacks, so that its owner finds the typing error and not a sender. */
export async function assertAgent(parts: HookRouteParts, tenant: string, agent: string): Promise<void> {
  if (!(await parts.hasAgent(tenant, agent)))
    throw new MusterError('agent.unknown', `There is no agent "${agent}"`, { details: { agent } });
}
