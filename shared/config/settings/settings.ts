import { z } from 'zod';
import { agentDefinitionSchema, agentIdSchema } from '../agent-definitions.ts';
import { chatSettingsSchema } from '../chat.ts';

import { configuredBudgetsSchema } from './budget-settings.ts';
import { archiveSettingsSchema, fileSettingsSchema } from './file-settings.ts';
import {
  actionSettingsSchema,
  deliverySettingsSchema,
  journalSettingsSchema,
  questionSettingsSchema,
  retrySettingsSchema,
  searchSettingsSchema,
  taskSettingsSchema,
} from './task-settings.ts';
import {
  eventSettingsSchema,
  httpSettingsSchema,
  openaiSettingsSchema,
  outboundSettingsSchema,
  webhookSettingsSchema,
} from './http-settings.ts';
import { dispatchSettingsSchema, limitsSchema, tenantSettingsSchema } from './limits-settings.ts';
import { checkDurations } from './durations.ts';
import { hubSettingsSchema } from './hub-settings.ts';
import { alertsSchema, metricsSettingsSchema, traceSettingsSchema } from './metrics-settings.ts';
import { modelsSchema, runawaySettingsSchema, usageSettingsSchema } from './money-settings.ts';
import { providersSchema, throttleSettingsSchema } from './provider-settings.ts';
import { circuitSettingsSchema, mcpSchema, modelBatchSettingsSchema, modelCallSettingsSchema, toolsSchema } from './model-settings.ts';
import { lanesSchema, routingSchema, sessionSettingsSchema } from './routing-settings.ts';
import { auditSettingsSchema } from './audit-settings.ts';
import { signInSettingsSchema } from './sign-in-settings.ts';
import { configuredSchedulesSchema, schedulerSettingsSchema } from './schedule-settings.ts';
import {
  commandSettingsSchema,
  consumerSettingsSchema,
  fleetSettingsSchema,
  queueSettingsSchema,
  redisSettingsSchema,
  workerSettingsSchema,
  workspaceSettingsSchema,
} from './worker-settings.ts';

const settingsFields = z.strictObject({
  agents: z.record(agentIdSchema, agentDefinitionSchema).default({}),
  /** What models may do, by name, and `maxResultBytes`, see [agents](agents.md#tools). */
  tools: toolsSchema.prefault({}),
  /** Servers of the Model Context Protocol whose tools models may use, by name. */
  mcp: mcpSchema.default({}),
  commands: commandSettingsSchema.prefault({}),
  workspaces: workspaceSettingsSchema.prefault({}),
  routing: routingSchema.prefault({}),
  /** Named lanes, for agents (`lane`) and sources (`retries.<source>.sharedLane`) to share. */
  lanes: lanesSchema.prefault({}),
  sessions: sessionSettingsSchema.prefault({}),
  /** Schedules that are there from the start, by name. */
  schedules: configuredSchedulesSchema.default({}),
  /** What may be spent, beside the budgets that tenants make by API. */
  budgets: configuredBudgetsSchema,
  consumers: consumerSettingsSchema.prefault({}),
  redis: redisSettingsSchema.prefault({}),
  scheduler: schedulerSettingsSchema.prefault({}),
  deliveries: deliverySettingsSchema.prefault({}),
  limits: limitsSchema.prefault({}),
  dispatch: dispatchSettingsSchema.prefault({}),
  tenants: tenantSettingsSchema.prefault({}),
  queues: queueSettingsSchema.default({}),
  retries: retrySettingsSchema.prefault({}),
  tasks: taskSettingsSchema.prefault({}),
  search: searchSettingsSchema.prefault({}),
  files: fileSettingsSchema,
  archive: archiveSettingsSchema,
  actions: actionSettingsSchema.prefault({}),
  events: eventSettingsSchema.prefault({}),
  metrics: metricsSettingsSchema.prefault({}),
  traces: traceSettingsSchema.prefault({}),
  /** Who is alerted of what the fleet finds, see [operating](deploy.md#alerts). */
  alerts: alertsSchema,
  /** Models by name, with their prices, see [money](money.md). */
  models: modelsSchema,
  modelCalls: modelCallSettingsSchema,
  modelBatches: modelBatchSettingsSchema,
  circuits: circuitSettingsSchema,
  usage: usageSettingsSchema.prefault({}),
  journal: journalSettingsSchema.prefault({}),
  questions: questionSettingsSchema.prefault({}),
  runaways: runawaySettingsSchema.prefault({}),
  worker: workerSettingsSchema.prefault({}),
  fleet: fleetSettingsSchema.prefault({}),
  hub: hubSettingsSchema.prefault({}),
  http: httpSettingsSchema.prefault({}),
  openai: openaiSettingsSchema,
  signIn: signInSettingsSchema.prefault({}),
  audit: auditSettingsSchema.prefault({}),
  webhooks: webhookSettingsSchema.prefault({}),
  chat: chatSettingsSchema.prefault({}),
  outbound: outboundSettingsSchema.prefault({}),
  providers: providersSchema,
  throttle: throttleSettingsSchema,
});

/** Everything `muster.config.ts` may say. Each bound carries its unit in its name. */
export const settingsSchema = settingsFields.superRefine(checkDurations);

export type Settings = z.infer<typeof settingsSchema>;
export type SettingsInput = z.input<typeof settingsSchema>;
