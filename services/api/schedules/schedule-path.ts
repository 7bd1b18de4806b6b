import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';

/** The path of one schedule: its id, or its number. */
export const schedulePathSchema = z.object({ id: z.string().max(100).meta({ description: "The schedule's id, or its number." }) });

/** The same for a schedule of another tenant. */
export function scheduleNotFound(id: string): MusterError {
  return new MusterError('schedule.not-found', 'There is no such schedule', { details: { id } });
}
