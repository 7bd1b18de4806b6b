/**
 * Everything that can be configured: the environment, `muster.config.ts` and their schemas with defaults, units and bounds. Only this
 * folder reads the environment.
 */
export {
  type AgentDefinition,
  type AgentKind,
  type ApiAgentDefinition,
  agentDefinitionSchema,
  agentIdSchema,
  COMMAND_PRESETS,
  type CommandPreset,
  apiAgentDefinitionSchema,
  directivesOf,
  hasPlainOutput,
  inputSchemaOf,
  isRemoteRepository,
  KEEPS_WORKSPACES,
  workspaceSchema,
} from './agent-definitions.ts';
export { codexServerWords } from './codex-words.ts';
export type { AgentLoopOptions, Tool } from './define-agent.ts';
export type { McpServer } from './settings/model-settings.ts';
export { answerProblem, type Asked, askedSchema, choiceOf, readAnswer, readAsked, readTextAnswer } from './asked-question.ts';
export {
  CHAT_PLATFORMS,
  CHAT_RIGHTS,
  type ChatAccess,
  type ChatPlatformName,
  type ChatRight,
  type ChatSettings,
  chatPlatforms,
} from './chat.ts';
export { FINISH_REASONS, type FinishReason, isTruncated } from './define-config.ts';
export type {
  AgentAttachment,
  AgentContext,
  AgentEvent,
  AgentFunction,
  AgentInput,
  AgentLog,
  AgentMessage,
  AgentModel,
  AgentResult,
  AgentTask,
  AgentTurn,
  AgentUsage,
  Question,
  DelegateCall,
  Delegated,
  StepOptions,
  StepWork,
  WaitForOptions,
} from './define-config.ts';
export { describeConfiguration } from './describe-configuration.ts';
export { type CliEnvironment, readCliEnvironment, readNamedVariable } from './cli-environment.ts';
export { DEFAULT_DATA_DIRECTORY, type Environment, withVariables } from './environment.ts';
export { hasTlsFiles, openTlsFiles, parseRedisQuery, REDIS_URL_FORM } from './redis-url.ts';
export { secretVariables, withdrawVariables } from './secrets/secret-variables.ts';
export { type Network, capabilitySchema, durationSchema, executionFields, lineSchema, readNetwork } from './fields.ts';
export { commandPlace, configurationOf, installedVersion, isImage, releaseName, startCommand } from './installed-version.ts';
export {
  CLI_AGENT,
  QUEUE_MODES,
  type QueueMode,
  SOURCES,
  SOURCE_CLASSES,
  type Source,
  type SourceClass,
  TASK_QUEUES,
  type TaskQueue,
} from './sources.ts';
export { describeImportFailure, isMissingModule } from './import-failure.ts';
export { importModule } from './import-module.ts';
export { type Config, invalidConfig, loadConfig, loadEnvironment } from './load-config.ts';
export { loadProducerConfig, type ProducerConfigOptions } from './load-producer-config.ts';
export { excerptOf } from './source-code.ts';
export type { AlertRule } from './settings/metrics-settings.ts';
export type { ArchiveSettings, FileSettings } from './settings/file-settings.ts';
export { type FleetLimits, type FleetLimitsPatch, fleetLimitsPatchSchema, fleetLimitsSchema } from './settings/fleet-limits.ts';
export {
  type TenantLimits,
  type TenantLimitsPatch,
  type Thresholds,
  tenantLimitsPatchSchema,
  tenantLimitsSchema,
} from './settings/limits-settings.ts';
export { type ModelSettings, modelNameSchema, RUNAWAY_BUDGET } from './settings/money-settings.ts';
export { rateWindows } from './settings/rates.ts';
export type { SchedulerSettings } from './settings/schedule-settings.ts';
export { type BudgetRule, budgetFields, budgetSchema } from './settings/budget-settings.ts';
export type { OidcSettings, RoleRule } from './settings/sign-in-settings.ts';
export type { Settings } from './settings/settings.ts';
export type { DeliverySettings } from './settings/task-settings.ts';
export type { HubSettings } from './settings/hub-settings.ts';
export type { CommandLimits } from './settings/command-limits.ts';
export { type CommandSettings, type ConsumerSettings, commandSettingsSchema } from './settings/worker-settings.ts';
