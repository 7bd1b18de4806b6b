import { z } from 'zod';
import { IDENTITIES } from './identify-delivery.ts';

/** What became of a request to a hook. */
const HOOK_VERDICTS = ['accepted', 'repeated', 'handshake', 'refused'] as const;

const described = {
  at: z.iso.datetime().describe('When it came.'),
  verdict: z.enum(HOOK_VERDICTS).describe('What became of it.'),
  code: z.string().nullable().describe('The code of the refusal; null for none.'),
  reason: z
    .string()
    .nullable()
    .describe('Why it was refused, taken for a repeat, or run again, or which event it was sent as, in a sentence; null for none.'),
  origin: z
    .enum(['sender', 'test', 'replay'])
    .describe("Who sent it: the hook's sender, or a person who tests the hook or replays a delivery."),
  event: z.string().nullable().describe('As the sender names it; null where the proof failed before it was read.'),
  delivery: z.string().nullable().describe("The sender's id of the delivery, or the id that stands in for it."),
  identity: z
    .enum(IDENTITIES)
    .nullable()
    .default(null)
    .describe("What it is recognized by when it comes again: the sender's id, what was signed, or nothing."),
  taskId: z.string().nullable().describe('The task that it made, or that the first of its repetitions made.'),
  bytes: z.number().int().nullable().describe('Size of the body as it came; null when it was not read to its end.'),
};

/** A delivery as Redis keeps it: without headers, which hold signatures and tokens. */
export const storedDeliverySchema = z.object({
  ...described,
  eventType: z.string().nullable(),
  /** JSON of what was read, or the beginning of a body whose proof failed. */
  payload: z.string(),
  /** Whether `payload` is all of it, and the sender has proved itself. */
  mayReplay: z.boolean(),
});
export type StoredDelivery = z.infer<typeof storedDeliverySchema>;

/** A delivery in a list. */
export const hookDeliverySchema = z
  .object({
    id: z.string(),
    ...described,
    mayReplay: z.boolean().describe('Whether it can be replayed: its sender was proved, and its payload is kept complete.'),
  })
  .meta({ id: 'HookDelivery' });
type HookDelivery = z.infer<typeof hookDeliverySchema>;

/** One delivery with what it brought. */
export const hookDeliveryDetailSchema = hookDeliverySchema
  .extend({
    payload: z.string().describe('JSON of the payload; for a refused proof the body as text. Cut to `webhooks.deliveries.maxBytes`.'),
  })
  .meta({ id: 'HookDeliveryDetail' });

export function viewDelivery(id: string, { eventType: _eventType, payload: _payload, ...rest }: StoredDelivery): HookDelivery {
  return { id, ...rest };
}
