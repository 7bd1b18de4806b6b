import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';

export const agentPathSchema = z.object({ id: z.string().meta({ description: "The agent's name." }) });

/** `agent.not-found`, 404. */
export function agentNotFound(id: string): MusterError {
  return new MusterError('agent.not-found', 'There is no such agent', { details: { agent: id.slice(0, 100) } });
}
