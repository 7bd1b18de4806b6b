import { z } from 'zod';
import type { BudgetDirectory } from '#shared/budgets/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { Queues } from '#shared/queue/index.ts';

export interface AttentionPorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly budgets: BudgetDirectory;
}

const CODES = [
  'queue.unserved',
  'queue.paused',
  'worker.dead',
  'configuration.mixed',
  'zone-data.mixed',
  'zone-data.old',
  'chat.refused',
  'daemon.missing',
  'agent.failing',
  'agent.held',
  'agent.paused',
  'input.held',
  'delivery.failed',
  'endpoint.disabled',
  'schedule.paused',
  'budget.soft',
  'budget.hard',
  'pressure.warning',
  'pressure.critical',
] as const;
export const LEVELS = ['critical', 'warning'] as const;

export const itemSchema = z
  .strictObject({
    code: z.enum(CODES).meta({ description: 'What it is.' }),
    level: z.enum(LEVELS).meta({ description: '`critical`: work stands still or is lost; `warning`: it soon may.' }),
    text: z.string().meta({ description: 'The same for people.' }),
    count: z.int().min(1).meta({ description: 'How many there are of it, at least.' }),
    since: z.iso.datetime().nullable().meta({ description: 'Since when, where that is known.' }),
    link: z.string().meta({ description: 'The page of the console about it.' }),
    subject: z.string().nullable().meta({ description: 'Its id or name, where it is one thing.' }),
  })
  .meta({
    id: 'Attention',
    examples: [
      {
        code: 'queue.unserved',
        level: 'critical',
        text: 'Tasks wait in the queue "chat", and no worker serves it.',
        count: 1,
        since: '2026-05-01T09:00:00.000Z',
        link: '/queues',
        subject: 'chat',
      },
    ],
  });
export type Item = z.infer<typeof itemSchema>;
