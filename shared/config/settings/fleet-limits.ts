import { z } from 'zod';
import { SOURCE_CLASSES } from '../sources.ts';
import { rateSchema } from './rates.ts';

const classes = z.enum(SOURCE_CLASSES);
const rateClasses = z.enum([...SOURCE_CLASSES, 'all']);
const count = z.number().int().min(1);

const caps = {
  /** Grants at once per source class, over all tenants; none by default. */
  runningByClass: z.partialRecord(classes, count).default({}),
  /** Grants at once for tasks of priority 1, over all tenants; null for no limit. */
  runningLow: count.nullable().default(null),
  /** Tasks accepted per source class, and in all, over all tenants; none by default. */
  rates: z.partialRecord(rateClasses, rateSchema).default({}),
};

/** What all tenants together may run and send, besides `maxConcurrent`. `PATCH /v1/limits` changes it live. */
export const configuredFleetLimitsSchema = z.strictObject(caps).prefault({});

/** The limits of the fleet that change live. */
export const fleetLimitsSchema = z
  .strictObject({
    maxConcurrent: count.meta({ description: 'Attempts that run at once in the fleet.' }),
    runningByClass: caps.runningByClass.meta({ description: 'Grants at once per source class, over all tenants.' }),
    runningLow: caps.runningLow.meta({ description: 'Grants at once for tasks of priority 1, over all tenants; null for no limit.' }),
    rates: caps.rates.meta({ description: 'Tasks accepted per source class, and in all, over all tenants.' }),
  })
  .meta({ id: 'FleetLimits' });
export type FleetLimits = z.infer<typeof fleetLimitsSchema>;

/** A change of some of them: what is not named stays, and null takes a figure away. */
export const fleetLimitsPatchSchema = z
  .strictObject({
    maxConcurrent: count.optional(),
    runningByClass: z.partialRecord(classes, count.nullable()).optional(),
    runningLow: count.nullable().optional(),
    rates: z.partialRecord(rateClasses, rateSchema.nullable()).optional(),
  })
  .meta({ id: 'FleetLimitsPatch', examples: [{ maxConcurrent: 200, rates: { all: { perMinute: 500, perHour: 10_000 } } }] });
export type FleetLimitsPatch = z.infer<typeof fleetLimitsPatchSchema>;
