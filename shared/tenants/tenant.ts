import { z } from 'zod';
import { tenantLimitsSchema } from '../config/settings.ts';

export const tenantIdSchema = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'expected lower-case letters, digits, "_" or "-", at most 63');

/** The owner of everything; nothing crosses tenants. */
export const tenantSchema = z.object({
  id: tenantIdSchema,
  name: z.string().min(1).max(200),
  /** A disabled tenant's keys and schedules do nothing until it is enabled again. */
  disabled: z.boolean(),
  /** Its own limits; null takes those of the configuration. */
  limits: tenantLimitsSchema.nullable(),
  createdAt: z.number().int(),
});
export type Tenant = z.infer<typeof tenantSchema>;

/** The tenant of a one-team installation, which is there from the start. */
export const DEFAULT_TENANT = 'default';
