import { z } from 'zod';

/** What an agent, a lane or a schedule of the configuration is called. */
export const nameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected lower-case letters, digits, ".", "_" or "-", at most 64');
