import { z } from 'zod';

const idSchema = z.string().optional().meta({ description: 'Sent back as `Last-Event-ID`, it resumes after this event.' });

/**
 * The schema of the events of a stream, for the documentation. Each of `events` is one name with the schema of its data, which an event has
 * as one line of JSON.
 */
export function streamSchema(id: string, events: Readonly<Record<string, z.ZodType>>): z.ZodType {
  const forms = Object.entries(events).map(([event, data]) =>
    z.strictObject({ event: z.literal(event).meta({ description: 'Its name.' }), id: idSchema, data }),
  );
  return z.union(forms).meta({ id, description: 'One server-sent event; `data` is JSON on one line.' });
}
