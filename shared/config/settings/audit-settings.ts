import { z } from 'zod';
import { int } from '../fields.ts';

/** The audit log of each tenant. */
export const auditSettingsSchema = z.strictObject({
  /** Entries of one tenant; the oldest go first. */
  maxPerTenant: int(10_000),
  /** How long an entry is kept. */
  retentionMs: int(400 * 86_400_000, 60_000),
  /** Whether new tasks, messages and uploads are entries too; their own records say who sent them. */
  work: z.boolean().default(false),
});
