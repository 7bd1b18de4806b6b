import { z } from 'zod';

/** How far too much waits, as the signal has it. */
export const pressureFields = {
  type: z.literal('backpressure').meta({ description: 'What kind of signal it is.' }),
  level: z.enum(['warning', 'critical']).meta({ description: 'How much.' }),
  scope: z.enum(['tenant', 'fleet']).meta({ description: 'Who has too much work.' }),
  queueDepth: z.int().meta({ description: 'How many tasks of the tenant have not ended.' }),
  queue_depth: z.int().meta({ description: 'The same, by the name that proactive engines know.' }),
  estimatedWaitMs: z.number().nullable().meta({ description: 'How long its next task waits, about; null when unknown.' }),
  estimated_wait_time: z.int().nullable().meta({ description: 'The same in seconds.' }),
  slowDown: z.number().nullable().meta({ description: 'For proactive tasks under a warning: how many times slower to send.' }),
  slow_down: z.number().nullable().meta({ description: 'The same.' }),
  recommendations: z.array(z.string()).meta({ description: 'What would help.' }),
};

export const pressureSchema = z.object(pressureFields).meta({ id: 'Pressure' });
