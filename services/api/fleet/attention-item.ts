import { z } from 'zod';
import { FINDING_CODES, type KeptFinding, SEVERITIES } from '#shared/findings/index.ts';
import { toIso } from '#shared/time/index.ts';

const instant = z.iso.datetime();

export const itemSchema = z
  .strictObject({
    id: z.string().meta({ description: 'The same while it lasts; acknowledges it.' }),
    code: z.enum(FINDING_CODES).meta({ description: 'What it is.' }),
    level: z.enum(SEVERITIES).meta({ description: '`critical`: work stands still or is lost; `warning`: it soon may.' }),
    scope: z.enum(['fleet', 'tenant']).meta({ description: 'Whose it is: of the installation, or of the tenant.' }),
    text: z.string().meta({ description: 'The same for people, with the figures.' }),
    helps: z.string().meta({ description: 'What helps, for people.' }),
    count: z.int().min(1).meta({ description: 'How many there are of it, at least.' }),
    since: instant.nullable().meta({ description: 'Since when; since it was found, where no more is known.' }),
    link: z.string().meta({ description: 'The page of the console about it.' }),
    subject: z.string().nullable().meta({ description: 'Its id or name, where it is one thing.' }),
    gate: z.string().nullable().meta({ description: 'What tasks wait at, as in `why`, where it is about waiting tasks.' }),
    acknowledged: z
      .strictObject({ at: instant.meta({ description: 'When.' }), by: z.string().nullable().meta({ description: 'The id of the key.' }) })
      .nullable()
      .meta({ description: 'Who knows of it: it is listed no more, unless it becomes worse.' }),
  })
  .meta({
    id: 'Attention',
    examples: [
      {
        id: 'queue.unserved:chat',
        code: 'queue.unserved',
        level: 'critical',
        scope: 'fleet',
        text: 'Tasks wait in the queue "chat", and no worker serves it.',
        helps: 'Start a worker that serves it.',
        count: 1,
        since: '2026-05-01T09:00:00.000Z',
        link: '/queues',
        subject: 'chat',
        gate: null,
        acknowledged: null,
      },
    ],
  });
export type Item = z.infer<typeof itemSchema>;

export function viewItem({ severity, since, acknowledged, ...finding }: KeptFinding, scope: Item['scope']): Item {
  return {
    ...finding,
    level: severity,
    scope,
    since: toIso(since),
    acknowledged: acknowledged && { at: new Date(acknowledged.at).toISOString(), by: acknowledged.by },
  };
}
