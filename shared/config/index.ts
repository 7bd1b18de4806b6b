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
} from './agent-definitions.ts';
export type { AgentContext, AgentFunction, AgentInput, AgentLog, AgentResult, AgentTask, AgentTurn, AgentUsage } from './agent-function.ts';
export { CHAT_RIGHTS, type ChatAccess, type ChatRight } from './chat-access.ts';
export { CHAT_PLATFORMS, type ChatPlatformName, chatPlatforms } from './chat-environment.ts';
export type { ChatSettings } from './chat-settings.ts';
export { type CliEnvironment, readCliEnvironment } from './cli-environment.ts';
export { type CommandSettings, commandSettingsSchema } from './command-settings.ts';
export type { ConsumerSettings } from './consumer-settings.ts';
export type { DeliverySettings } from './delivery-settings.ts';
export { DEFAULT_DATA_DIRECTORY, type Environment } from './environment.ts';
export { executionFields } from './execution-fields.ts';
export { describeImportFailure, importModule } from './import-module.ts';
export { invalidConfig } from './invalid-config.ts';
export { type Config, loadConfig } from './load-config.ts';
export { QUEUE_MODES, type QueueMode } from './queue-mode.ts';
export { type Network, readNetwork } from './read-network.ts';
export { REDIS_URL_FORM } from './redis-url-form.ts';
export type { SchedulerSettings } from './schedule-settings.ts';
export { secretVariables, withVariables, withdrawVariables } from './secret-variables.ts';
export {
  type Rate,
  SOURCES,
  SOURCE_CLASSES,
  type Settings,
  type Source,
  type SourceClass,
  TASK_QUEUES,
  type TaskQueue,
  type TenantLimits,
  type TenantLimitsPatch,
  tenantLimitsPatchSchema,
  tenantLimitsSchema,
} from './settings.ts';
