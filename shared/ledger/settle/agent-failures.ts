import { z } from 'zod';
import { isRefusal, type TaskHold } from '../../errors/index.ts';
import type { TaskState, TaskStatus } from '../../tasks/index.ts';
import { releaseHeld } from '../grants/release-held.ts';
import { HOLD_ORDER, type HoldKind, type HoldReport } from '../gate-kind.ts';
import type { Ledger } from '../ledger.ts';
import type { TenantAgent } from './paused-agents.ts';

/** Failures that do not count against the agent, besides refusals. */
const NOT_OF_AGENT: ReadonlySet<string> = new Set(['RUNAWAY', 'DEADLINE_PASSED', 'INVALID_INPUT', 'AGENT_NOT_FOUND']);

/** What the end of a task counts for its agent's failures in a row; `code`: of a failure. */
export interface AgentEnd {
  agent: string;
  code?: string;
}

/** What an end counts so; undefined for nothing. */
export function agentEnd({ agent, error }: Pick<TaskState, 'agent' | 'error'>, status: TaskStatus): AgentEnd | undefined {
  if (status === 'completed') return { agent };
  if (status !== 'permanently_failed' || error === undefined) return undefined;
  return isRefusal(error.code) || NOT_OF_AGENT.has(error.code) ? undefined : { agent, code: error.code };
}

/** As `failures.lua` writes it. */
const failuresSchema = z.object({
  /** Tasks that failed for good since the last success. */
  failures: z.int(),
  /** Of the last one. */
  code: z.string(),
  task: z.string(),
  /** Since when the agent's tasks are held, ms since the epoch; absent while they are not. */
  heldAt: z.number().optional(),
});
type AgentFailures = z.infer<typeof failuresSchema>;

type HoldingFailures = AgentFailures & { heldAt: number };

type Reader = Pick<Ledger, 'redis' | 'keys'>;

/** The failures of an agent whose tasks they hold; null while they do not. */
export async function readHeld({ redis, keys }: Reader, { tenant, agent }: TenantAgent): Promise<AgentFailures | null> {
  const stored = await redis.hget(keys.tenant(tenant).failing, agent);
  const read = stored === null ? null : failuresSchema.parse(JSON.parse(stored));
  return read?.heldAt === undefined ? null : read;
}

/** Failures that hold the tasks of a tenant's agents, by agent. */
export async function readFailing({ redis, keys }: Reader, tenant: string): Promise<Map<string, HoldingFailures>> {
  const stored = await redis.hgetall(keys.tenant(tenant).failing);
  const read = Object.entries(stored).map(([agent, text]) => [agent, failuresSchema.parse(JSON.parse(text))] as const);
  return new Map(
    read.flatMap(([agent, failures]) => (failures.heldAt === undefined ? [] : [[agent, { ...failures, heldAt: failures.heldAt }]])),
  );
}

/** What holds the tasks of an agent that failed too often. */
export function failuresHold(agent: string): TaskHold {
  return { gate: 'failures', what: agent };
}

/** Such failures for people, without a full stop. */
export function describeFailures(agent: string, { failures, code, task }: AgentFailures): string {
  return `${failures} tasks of the agent ${agent} failed in a row, the last one (${task}) with ${code}`;
}

/** Releases tasks that were held while a person resumed their agent. */
export async function releaseIfForgotten(ledger: Ledger, { tenant, agent }: TenantAgent): Promise<void> {
  if ((await readHeld(ledger, { tenant, agent })) === null) await releaseAll(ledger, tenant, agent);
}

/** Forgets an agent's failures, so that its tasks may start. Held tasks need `releaseAll`. Returns whether any failed. */
export async function forgetFailures({ redis, keys }: Reader, { tenant, agent }: TenantAgent): Promise<boolean> {
  return (await redis.hdel(keys.tenant(tenant).failing, agent)) === 1;
}

/** Releases all tasks that the failures of an agent hold, in their order. */
export async function releaseAll(ledger: Ledger, tenant: string, agent: string): Promise<void> {
  await releaseHeld(ledger, tenant, failuresHold(agent), Infinity);
}

/** The failures of an agent as the gate that holds its tasks; null when they do not. */
async function explainFailures(ledger: Reader, tenant: string, agent: string): Promise<HoldReport | null> {
  const held = await readHeld(ledger, { tenant, agent });
  if (held === null) return null;
  const { failures, code, task } = held;
  return {
    detail: `${describeFailures(agent, held)}; its tasks start again when a person retries one of them`,
    facts: { agent, failures, code, lastFailed: task },
    until: null,
  };
}

/** The gate of agents that failed too often in a row. Without a bound on failures it holds nothing, whatever was counted before. */
export function failuresKind(ports: Reader & Pick<Ledger, 'settings'>): HoldKind {
  return {
    gate: 'failures',
    sort: 'hold',
    waits: 'until a person retries a task of its agent, which [failed too often in a row](money.md#failing-agents)',
    limit: 'none',
    order: HOLD_ORDER,
    opens: 'a retry of one of them by hand, which releases all',
    helps: 'It starts when a person retries it, or one of the tasks that failed. See to their cause first.',
    explain: async (tenant, agent) => (ports.settings.runaways.maxFailures > 0 ? await explainFailures(ports, tenant, agent) : null),
    endsWithCause: true,
  };
}
