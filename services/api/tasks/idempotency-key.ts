import { z } from 'zod';

export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 visible ASCII characters')
  .meta({ description: 'The same key with the same request gives the same task, for a day.' });

export const idempotencyHeadersSchema = z.object({ 'idempotency-key': idempotencyKeySchema.optional() });

/** The ledger's key for a caller's. Its prefix keeps it apart from the keys of webhooks and schedules, which no caller may take. */
export function idempotencyOf(key: string | undefined): { idempotencyKey?: string } {
  return key === undefined ? {} : { idempotencyKey: `api:${key}` };
}
