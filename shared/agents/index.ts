/**
 * How agents run: one runner per kind, failures turned into codes, the guard of outbound addresses, and the redaction of secrets in
 * what agents say.
 */
export { AgentCatalog, type CatalogEntry } from './agent-catalog.ts';
export type { AgentRun, Diagnostics } from './agent-runner.ts';
export { assertAgents } from './assert-agents.ts';
export { checkAgents } from './check-agents.ts';
export { commandUser, commandUserProblem } from './command/command-user.ts';
export { endOrphanedCommands } from './command/end-orphaned-commands.ts';
export { createAgentRunners } from './create-agent-runners.ts';
export { type GuardedFetch, createGuardedFetch } from './create-guarded-fetch.ts';
export { createRedactor, secretValues } from './create-redactor.ts';
export { failureFromNetwork } from './failure-from-network.ts';
export { retryAfterMs } from './retry-after-ms.ts';
export { type AgentRunners, runAgent } from './run-agent.ts';
export { handleStray } from './stray-errors.ts';
