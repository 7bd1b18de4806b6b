/**
 * What the fleet counts of its tasks: in memory where a step happens (`counts`), every few seconds in Redis, by tenant and minute, and
 * for good by queue, band and source. Reads sums, rates, quantiles and service times.
 */
export { FleetMetrics } from './fleet-metrics.ts';
export { LocalCounts } from './local-counts.ts';
