/**
 * The checks of a running fleet by what is in its Redis: the server's settings, records that cannot be read, workers, daemons, limits,
 * deliveries and clocks. `npx muster doctor` and the API answer them; checks of one machine are the command's own.
 */
export { checkRedis } from './check-redis.ts';
export type { CheckPorts, CheckResult } from './check.ts';
