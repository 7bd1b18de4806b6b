/**
 * What the fleet counts of its tasks: in memory where a step happens (`counts`), every few seconds in Redis, by tenant and minute, by agent and
 * hour, and for good by queue, band and source. Reads sums, rates, quantiles and service times.
 */
export { type AgentFigures, readAgentFigures } from './agent-hours.ts';
export { type AgentEnds, isFailing, readAgentEnds } from './agent-minutes.ts';
export { FleetMetrics } from './fleet-metrics.ts';
export type { Gauges, QueueGauge } from './gauges.ts';
export { BUCKETS_MS, sizeOf } from './histogram.ts';
export { LocalCounts } from './local-counts.ts';
export { type MinuteFigures, readHistory } from './read-history.ts';
export { readFleetCounts, readThroughput, type Throughput } from './read-metrics.ts';
export { readServiceTimes, serviceTimeOf, type TenantTimes } from './service-times.ts';
export type { Family, StoredFamily } from './stored-counts.ts';
