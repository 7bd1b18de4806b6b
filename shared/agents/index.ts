/**
 * How agents run: one file or folder per kind, registered in `agent-kinds.ts`; failures as codes, the guard of outbound addresses, and the
 * redaction of secrets.
 */
export { AgentCaps } from './agent-caps.ts';
export { addRequest } from './batches/add-request.ts';
export { type BatchCall, type BatchedCall, batchModel } from './batches/batched-model.ts';
export { openBatchRunner } from './batches/open-batch-runner.ts';
export { AgentCatalog, type CatalogEntry } from './agent-catalog.ts';
export type { AgentRun, AttemptCheckpoint, AttemptFiles, AttemptSessions, Diagnostics, KeptRun } from './agent-kind.ts';
export { agentSecrets, assertAgents, checkAgents, createAgentRunners, runAgent } from './agent-kinds.ts';
export { checkCommand, openCommandRunner } from './command/command.ts';
export type { KeptWork, RunJournal } from './loop/run-journal.ts';
export type { CommandRun } from './command/command-run.ts';
export { describeCgroups } from './command/processes/cgroup.ts';
export { endOrphanedCommands } from './command/processes/orphans.ts';
export { commandUserProblem, commandUsers } from './command/users/command-user.ts';
export { COMMANDS_KIND } from './command/users/tenant-turn.ts';
export { TURN as COMMANDS_TURN } from './command/users/tenant-turn.ts';
export { type SessionNote, sessionNoteSchema } from './command/kept/session-note.ts';
export type { OutputListing } from './command/folder/attempt-folder.ts';
export { type GuardedFetch, createGuardedFetch, refusalOfAddress } from './guarded-fetch.ts';
export { handleStray } from './kinds/function.ts';
export { createFunctionLoop, type FunctionLoop } from './loop/function-loop.ts';
export { keepsJournal } from './loop/tool-box.ts';
export { agentInput, schemaOfField } from './loop/tool-schema.ts';
export { createFleetModels, type FleetModels } from './model-source.ts';
export { failureFromNetwork, readRetryAfter } from './network-failures.ts';
export { readUsage } from './read-agent-answer.ts';
export { createRedactor } from './redactor.ts';
