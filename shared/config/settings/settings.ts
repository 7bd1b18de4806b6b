import { z } from 'zod';
import { agentDefinitionSchema, agentIdSchema } from '../agent-definitions.ts';
import { chatSettingsSchema } from '../chat.ts';

import { configuredBudgetsSchema } from './budget-settings.ts';
import { fileSettingsSchema } from './file-settings.ts';
import {
  actionSettingsSchema,
  deliverySettingsSchema,
  journalSettingsSchema,
  questionSettingsSchema,
  retrySettingsSchema,
  searchSettingsSchema,
  taskSettingsSchema,
} from './task-settings.ts';
import { eventSettingsSchema, httpSettingsSchema, outboundSettingsSchema, webhookSettingsSchema } from './http-settings.ts';
import { dispatchSettingsSchema, limitsSchema, tenantSettingsSchema } from './limits-settings.ts';
import { checkDurations } from './durations.ts';
import { hubSettingsSchema } from './hub-settings.ts';
import { metricsSettingsSchema } from './metrics-settings.ts';
import { modelsSchema, runawaySettingsSchema, usageSettingsSchema } from './money-settings.ts';
import { providersSchema, throttleSettingsSchema } from './provider-settings.ts';
import { circuitSettingsSchema, modelCallSettingsSchema } from './model-settings.ts';
import { lanesSchema, routingSchema, sessionSettingsSchema } from './routing-settings.ts';
import { auditSettingsSchema } from './audit-settings.ts';
import { signInSettingsSchema } from './sign-in-settings.ts';
import { configuredSchedulesSchema, schedulerSettingsSchema } from './schedule-settings.ts';
import {
  commandSettingsSchema,
  consumerSettingsSchema,
  fleetSettingsSchema,
  queueSettingsSchema,
  workerSettingsSchema,
} from './worker-settings.ts';

const settingsFields = z.strictObject({
  agents: z.record(agentIdSchema, agentDefinitionSchema).default({}),
  commands: commandSettingsSchema.prefault({}),
  routing: routingSchema.prefault({}),
  /** Named lanes, for agents (`lane`) and sources (`retries.<source>.sharedLane`) to share. */
  lanes: lanesSchema.prefault({}),
  sessions: sessionSettingsSchema.prefault({}),
  /** Schedules that are there from the start, by name. */
  schedules: configuredSchedulesSchema.default({}),
  /** What may be spent, beside the budgets that tenants make by API. */
  budgets: configuredBudgetsSchema,
  consumers: consumerSettingsSchema.prefault({}),
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
  actions: actionSettingsSchema.prefault({}),
  events: eventSettingsSchema.prefault({}),
  metrics: metricsSettingsSchema.prefault({}),
  /** Models by name, with their prices, see [money](money.md). */
  models: modelsSchema,
  modelCalls: modelCallSettingsSchema,
  circuits: circuitSettingsSchema,
  usage: usageSettingsSchema.prefault({}),
  journal: journalSettingsSchema.prefault({}),
  questions: questionSettingsSchema.prefault({}),
  runaways: runawaySettingsSchema.prefault({}),
  worker: workerSettingsSchema.prefault({}),
  fleet: fleetSettingsSchema.prefault({}),
  hub: hubSettingsSchema.prefault({}),
  http: httpSettingsSchema.prefault({}),
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
