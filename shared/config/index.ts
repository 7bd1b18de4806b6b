/**
 * Everything that can be configured: the environment, `muster.config.ts` and their schemas with defaults, units and bounds. Only this
 * folder reads the environment.
 */
export {
  type AgentDefinition,
  type AgentKind,
  type ApiAgentDefinition,
  agentIdSchema,
  apiAgentDefinitionSchema,
  appliesDirectives,
} from './agent-definitions.ts';
export type { AgentContext, AgentFunction, AgentInput, AgentLog, AgentResult, AgentTask, AgentTurn, AgentUsage } from './agent-function.ts';
export { CHAT_PLATFORMS, type ChatPlatformName, chatPlatforms } from './chat-environment.ts';
export { CHAT_RIGHTS, type ChatAccess, type ChatRight, type ChatSettings } from './settings/chat-settings.ts';
export { type CliEnvironment, readCliEnvironment } from './cli-environment.ts';
export type { DeliverySettings } from './settings/delivery-settings.ts';
export { DEFAULT_DATA_DIRECTORY, type Environment, REDIS_URL_FORM } from './environment.ts';
export { executionFields, type Network, readNetwork } from './fields.ts';
export { describeImportFailure, importModule } from './import-module.ts';
export {
  type Rate,
  type TenantLimits,
  type TenantLimitsPatch,
  tenantLimitsPatchSchema,
  tenantLimitsSchema,
} from './settings/limits-settings.ts';
export { type Config, describeOldNames, invalidConfig, loadConfig } from './load-config.ts';
export { QUEUE_MODES, type QueueMode } from './queue-mode.ts';
export type { SchedulerSettings } from './settings/schedule-settings.ts';
export { secretVariables, withVariables, withdrawVariables } from './secret-variables.ts';
export type { Settings } from './settings/settings.ts';
export { SOURCES, SOURCE_CLASSES, type Source, type SourceClass, TASK_QUEUES, type TaskQueue } from './sources.ts';
export { type CommandSettings, type ConsumerSettings, commandSettingsSchema } from './settings/worker-settings.ts';
