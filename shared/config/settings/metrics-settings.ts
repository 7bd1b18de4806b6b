import { z } from 'zod';
import { int, nameSchema } from '../fields.ts';

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

/** Spans of tasks, which OpenTelemetry's variables switch on. */
export const traceSettingsSchema = z.strictObject({
  /** Where people look at a trace, with `{traceId}` in its place: `https://jaeger.example/trace/{traceId}`. Without it tasks show only its id. */
  url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => url.includes('{traceId}'), 'expected {traceId} in it')
    .optional(),
});

const address = z.url({ protocol: /^https?$/ });

/** Who is alerted, each by one rule. */
const alertRuleSchema = z.strictObject({
  name: nameSchema,
  to: z.union([
    z.strictObject({ slack: z.strictObject({ url: address }) }),
    z.strictObject({ webhook: z.strictObject({ url: address, secret: z.string().startsWith('whsec_').optional() }) }),
    z.strictObject({ email: z.strictObject({ to: z.union([z.email(), z.array(z.email()).min(1).max(50)]) }) }),
    z.strictObject({ alertmanager: z.strictObject({ url: address }) }),
  ]),
  /** The least that is sent. Defaults to `warning`. */
  severity: z.enum(['info', 'warning', 'critical']).default('warning'),
  /** The only tenants that it is about; by default the installation and all tenants. */
  tenants: z.array(z.string().min(1)).min(1).max(1000).optional(),
});
export type AlertRule = z.infer<typeof alertRuleSchema>;

/** `alerts`: at most 50. */
export const alertsSchema = z
  .array(alertRuleSchema)
  .max(50)
  .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, 'expected names that differ')
  .default([]);
