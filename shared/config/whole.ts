import { z } from 'zod';

/** A setting that is a whole number of at least `min`. */
export const whole = (fallback: number, min = 1): z.ZodDefault<z.ZodNumber> => z.number().int().min(min).default(fallback);
