import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf, taskStatusSchema } from './records.ts';

const agentSchema = z.object({
  id: z.string(),
  origin: z.enum(['config', 'api']),
  kind: z.string(),
  description: z.string().nullable(),
  timeoutMs: z.number().nullable(),
  maxRunning: z.number().nullable(),
  maxAttempts: z.number().nullable(),
  retryDelayMs: z.number().nullish(),
  retryBackoff: z.string().nullish(),
  retries: z.record(z.string(), z.string()).optional(),
  directives: z.boolean().optional(),
  baseUrl: z.string().optional(),
  model: z.string().optional(),
  system: z.string().optional(),
  temperature: z.number().optional(),
  maxOutputTokens: z.number().optional(),
  maxSteps: z.number().optional(),
  url: z.string().optional(),
  capabilities: z.array(z.string()).optional(),
  hasSecret: z.boolean().optional(),
  hold: z.object({ gate: z.enum(['agent', 'failures']), since: z.string().nullable(), reason: z.string() }).nullable(),
});
export type Agent = z.infer<typeof agentSchema>;

const agentTaskSchema = z.object({
  id: z.string(),
  agent: z.string(),
  status: taskStatusSchema,
  input: z.string(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
export type AgentTask = z.infer<typeof agentTaskSchema>;

const agentsSchema = listOf(agentSchema);
const tasksSchema = listOf(agentTaskSchema);
const usageSchema = listOf(
  z.object({
    group: z.string().nullable(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    costMicroUsd: z.number().nullable(),
    estimated: z.number(),
  }),
);
export type AgentUsage = z.infer<typeof usageSchema>['items'][number];

/** The newest tasks that rates and durations are computed of; the API's largest page. */
export const SAMPLE = 200;

export const AGENTS_KEY = ['agents', 'catalogue'] as const;

const pathOf = (id: string): string => `/v1/agents/${encodeURIComponent(id)}`;

export const readAgents = async (signal: AbortSignal): Promise<Agent[]> => (await callApi(agentsSchema, '/v1/agents', { signal })).items;

export const readAgent = (id: string, signal: AbortSignal): Promise<Agent> => callApi(agentSchema, pathOf(id), { signal });

export const putAgent = (id: string, definition: object): Promise<Agent> =>
  callApi(agentSchema, pathOf(id), { method: 'PUT', body: definition });

/** Starts no more tasks of it. */
export const pauseAgent = (id: string): Promise<Agent> => callApi(agentSchema, `${pathOf(id)}/pause`, { method: 'POST' });

export const resumeAgent = (id: string): Promise<Agent> => callApi(agentSchema, `${pathOf(id)}/resume`, { method: 'POST' });

export const deleteAgent = (id: string): Promise<null> => callApi(z.null(), pathOf(id), { method: 'DELETE' });

/** The newest tasks, of one agent or of all. */
export async function readAgentTasks(agent: string | null, signal: AbortSignal): Promise<AgentTask[]> {
  const of = agent === null ? '' : `&agent=${encodeURIComponent(agent)}`;
  return (await callApi(tasksSchema, `/v1/tasks?limit=${SAMPLE}${of}`, { signal })).items;
}

/** What each agent used in the last 30 days. */
export const readAgentUsage = async (signal: AbortSignal): Promise<AgentUsage[]> =>
  (await callApi(usageSchema, '/v1/usage?groupBy=agent', { signal })).items;

export const tryAgent = (agent: string, input: string): Promise<{ id: string }> =>
  callApi(z.object({ id: z.string() }), '/v1/tasks', { method: 'POST', body: { agent, input } });
