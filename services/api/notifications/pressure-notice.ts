import { z } from 'zod';
import type { TenantEvent } from '#shared/events/index.ts';
import { describeLoad, type Pressure } from '#shared/queue/index.ts';

/** The fields of an entry about the load. Entries of an earlier release have the depth alone. */
const entrySchema = z.object({
  level: z.enum(['none', 'warning', 'critical']).default('none'),
  depth: z.coerce.number().default(0),
  wait: z.coerce.number().default(-1),
  slow: z.coerce.number().optional(),
  bound: z.enum(['caps', 'slots', 'memory']).default('slots'),
  shed: z
    .string()
    .default('{}')
    .transform((text) => shedSchema.parse(JSON.parse(text))),
});
/** By `<source>|<band>`. */
const shedSchema = z.record(z.string(), z.number());

/** The signal of an entry, with the tasks refused since the pressure began. */
export function describePressure(fields: TenantEvent['fields'], scope: Pressure['scope']): object {
  const { level, depth, wait, slow, bound, shed } = entrySchema.parse(fields);
  const refused = Object.entries(shed).map(([name, count]) => {
    const [source, band] = name.split('|');
    return { source, band, count };
  });
  const load = { depth, waitMs: wait < 0 ? null : wait };
  return { ...describeLoad({ level, scope, load, slowDown: slow ?? null, bound }), shed: refused };
}
