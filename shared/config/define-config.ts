import type { SettingsInput } from './settings/settings.ts';

export { TaskFailure } from '../errors/index.ts';
export type { AgentContext, AgentFunction, AgentInput, AgentResult, AgentTask, AgentTurn, AgentUsage } from './agent-function.ts';

/** Types `muster.config.ts`; validation happens when a process starts. */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings;
}
