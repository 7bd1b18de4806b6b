/**
 * The checks of a running fleet by what is in its Redis: the server's settings, records that cannot be read, workers, processes, daemons, limits,
 * deliveries and clocks. `npx muster doctor` and the API answer them; checks of one machine are the command's own.
 */
export { mixedConfigurations, mixedZoneData, oldZoneData } from './check-processes.ts';
export { checkRedis } from './check-redis.ts';
export type { CheckPorts, CheckResult } from './check.ts';
