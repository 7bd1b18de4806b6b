import { z } from 'zod';
import { int } from '../fields.ts';

/** `burst` may come at once before the rate counts; by default a minute's worth. */
export const rateSchema = z.strictObject({ perMinute: int(60), perHour: int(1000), burst: z.number().int().min(1).optional() });
export type Rate = z.infer<typeof rateSchema>;

/** A window of a rate: one task every so many ms, and so many at once. */
interface RateWindow {
  everyMs: number;
  burst: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The windows of a rate, as the scripts that count it take them. */
export function rateWindows({ perMinute, perHour, burst }: Rate): Record<'minute' | 'hour', RateWindow> {
  return { minute: { everyMs: MINUTE_MS / perMinute, burst: burst ?? perMinute }, hour: { everyMs: HOUR_MS / perHour, burst: perHour } };
}
