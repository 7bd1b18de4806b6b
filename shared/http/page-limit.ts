import { z } from 'zod';

/** How many items a page of a list has at most. */
export const pageLimitSchema = z.coerce.number().int().min(1).max(200).default(50);
