import { z } from 'zod';
import { int } from '../fields.ts';

/** What the fleet counts of its tasks, for `/metrics` and `GET /v1/metrics`. */
export const metricsSettingsSchema = z
  .strictObject({
    /** Between two flushes of what a process counted; a process that is killed loses one. Null counts nothing. Defaults to 2 s. */
    flushMs: z.number().int().min(50).nullable().default(2000),
    /** What averages and rates of `GET /v1/metrics` cover. Defaults to a quarter of an hour. */
    windowMs: int(900_000, 60_000),
    /** How long the figures of each minute are kept, of the fleet and the tenant `default`: about 1.5 kB each. Defaults to a day. */
    historyMs: int(86_400_000, 60_000),
    /** The same of each other tenant. Defaults to an hour. */
    tenantHistoryMs: int(3_600_000, 60_000),
    /** How long the figures of agents are kept by hour, of the tenant `default`. Defaults to a week. */
    agentsMs: int(7 * 86_400_000, 3_600_000),
    /** The same of each other tenant. Defaults to a day. */
    tenantAgentsMs: int(86_400_000, 3_600_000),
    /** Agents of one tenant that have figures in one hour; about 1 kB each. Defaults to 200. */
    maxAgents: int(200),
    /** What `agent.failing` of `GET /v1/attention` covers, up to an hour. Defaults to 10 minutes. */
    failingMs: z.number().int().min(60_000).max(3_600_000).default(600_000),
    /** Of the attempts of an agent in that time, the percentage that failed from which on it is listed there. Defaults to 50. */
    failingPercent: z.number().int().min(1).max(100).default(50),
    /** Failed attempts in that time from which on it is listed. Defaults to 5. */
    failingAttempts: int(5),
    /** Codes of agents' own choice that attempts are counted by; more are counted as `other`. Defaults to 100. */
    maxCodes: int(100, 0),
    /** Averages of service times that are kept of one tenant: one per agent and band. Defaults to 1000. */
    maxServiceTimes: int(1000),
    /** How long they are kept after a tenant's last attempt. Defaults to a week. */
    serviceTimesMs: int(7 * 86_400_000),
  })
  .prefault({});
