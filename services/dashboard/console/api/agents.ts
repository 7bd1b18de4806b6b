import { z } from 'zod';
import { callApi, ONLY_NEW } from './call-api.ts';
import { listOf, taskStatusSchema } from './records.ts';

const agentSchema = z.object({
  id: z.string(),
  origin: z.enum(['config', 'api']),
  kind: z.string(),
  description: z.string().nullable(),
  timeoutMs: z.number().nullable(),
  maxRunning: z.number().nullable(),
  maxAttempts: z.number().nullable(),
  /** What holds where the definition says nothing. */
  effective: z.object({ timeoutMs: z.number(), maxAttempts: z.number() }).nullish(),
  baseUrl: z.string().optional(),
  model: z.string().optional(),
  system: z.string().optional(),
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
const metricsSchema = z.object({
  items: z.array(
    z.object({
      agent: z.string(),
      attempts: z.number(),
      completed: z.number(),
      failed: z.number(),
      failureRate: z.number().nullable(),
      runP50Ms: z.number().nullable().default(null),
      runP95Ms: z.number().nullable(),
      costMicroUsd: z.number(),
      lastAt: z.string(),
    }),
  ),
  hours: z.number(),
  since: z.string(),
});
export type AgentMetrics = z.infer<typeof metricsSchema>;
export type AgentFigures = AgentMetrics['items'][number];

/** Windows of figures, in hours; the first is the default. */
export const WINDOWS = ['24', '1', '168'] as const;

/** What a window is called. */
export function windowText(hours: number): string {
  return hours === 1 ? 'this hour' : hours > 24 ? `the last ${Math.round(hours / 24)} days` : `the last ${hours} hours`;
}

/** The newest tasks that are listed; the API's largest page. */
export const AGENT_TASKS_SHOWN = 200;

export const AGENTS_KEY = ['agents', 'catalogue'] as const;

const pathOf = (id: string): string => `/v1/agents/${encodeURIComponent(id)}`;

export const readAgents = async (signal: AbortSignal): Promise<Agent[]> => (await callApi(agentsSchema, '/v1/agents', { signal })).items;

export const readAgent = (id: string, signal: AbortSignal): Promise<Agent> => callApi(agentSchema, pathOf(id), { signal });

/** Throws `agent.exists` rather than replace one. */
export const createAgent = (id: string, definition: object): Promise<Agent> =>
  callApi(agentSchema, pathOf(id), { method: 'PUT', body: definition, headers: ONLY_NEW });

/** Changes the members of the patch; null removes one. */
export const changeAgent = (id: string, patch: object): Promise<Agent> =>
  callApi(agentSchema, pathOf(id), { method: 'PATCH', body: patch });

/** Starts no more tasks of it. */
export const pauseAgent = (id: string, reason: string): Promise<Agent> =>
  callApi(agentSchema, `${pathOf(id)}/pause`, { method: 'POST', body: reason === '' ? {} : { reason } });

export const resumeAgent = (id: string): Promise<Agent> => callApi(agentSchema, `${pathOf(id)}/resume`, { method: 'POST' });

export const deleteAgent = (id: string): Promise<null> => callApi(z.null(), pathOf(id), { method: 'DELETE' });

/** The newest tasks of an agent. */
export async function readAgentTasks(agent: string, signal: AbortSignal): Promise<AgentTask[]> {
  return (await callApi(tasksSchema, `/v1/tasks?limit=${AGENT_TASKS_SHOWN}&agent=${encodeURIComponent(agent)}`, { signal })).items;
}

/** What each agent did in the last hours. */
export const readAgentMetrics = (hours: string, signal: AbortSignal): Promise<AgentMetrics> =>
  callApi(metricsSchema, `/v1/metrics/agents?hours=${encodeURIComponent(hours)}`, { signal });
