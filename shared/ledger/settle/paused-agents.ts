import { z } from 'zod';
import type { TaskHold } from '../../errors/index.ts';
import { releaseHeld } from '../grants/release-held.ts';
import { HOLD_ORDER, type HoldKind, type HoldReport } from '../gate-kind.ts';
import type { Ledger } from '../ledger.ts';
import { timeText } from '../../time/index.ts';

const agentPauseSchema = z.object({
  /** Since when, ms since the epoch. */
  at: z.number(),
  /** Name of the key or person that paused the agent. */
  by: z.string(),
  reason: z.string().nullable(),
});
/** Who paused an agent of a tenant, and why. */
export type AgentPause = z.infer<typeof agentPauseSchema>;

/** An agent as one tenant has it. */
export interface TenantAgent {
  tenant: string;
  agent: string;
}

type Reader = Pick<Ledger, 'redis' | 'keys'>;

/** What holds the tasks of a paused agent. */
export function pauseHold(agent: string): TaskHold {
  return { gate: 'agent', what: agent };
}

/** Stops the start of a tenant's tasks of an agent; what runs goes on. An agent that is paused already gets the new reason. */
export async function pauseAgent({ redis, keys }: Reader, { tenant, agent }: TenantAgent, pause: AgentPause): Promise<void> {
  await redis.hset(keys.tenant(tenant).pausedAgents, agent, JSON.stringify(pause));
}

/** Ends a pause and releases what it held, in its order. Also releases what an earlier call left that was lost half-way. */
export async function endPause(ledger: Ledger, { tenant, agent }: TenantAgent): Promise<void> {
  await ledger.redis.hdel(ledger.keys.tenant(tenant).pausedAgents, agent);
  await releaseHeld(ledger, tenant, pauseHold(agent), Infinity);
}

/** Releases tasks that were held while a person ended the pause. */
export async function releaseIfUnpaused(ledger: Ledger, of: TenantAgent): Promise<void> {
  if ((await readPause(ledger, of)) === null) await releaseHeld(ledger, of.tenant, pauseHold(of.agent), Infinity);
}

/** Pauses of a tenant's agents, by agent. */
export async function readPauses({ redis, keys }: Reader, tenant: string): Promise<Map<string, AgentPause>> {
  const stored = await redis.hgetall(keys.tenant(tenant).pausedAgents);
  return new Map(Object.entries(stored).map(([agent, text]) => [agent, parsePause(text)]));
}

/** The pause of one agent; null while it is not paused. */
export async function readPause({ redis, keys }: Reader, { tenant, agent }: TenantAgent): Promise<AgentPause | null> {
  const stored = await redis.hget(keys.tenant(tenant).pausedAgents, agent);
  return stored === null ? null : parsePause(stored);
}

/** A pause for people, without a full stop. */
export function describePause(agent: string, { at, by, reason }: AgentPause): string {
  const why = reason === null ? '' : `: ${reason}`;
  return `the agent ${agent} is paused by ${by} since ${timeText(at)}${why}`;
}

/** The pause of an agent as the gate that holds its tasks; null when it is not paused. */
async function explainPause(ledger: Reader, tenant: string, agent: string): Promise<HoldReport | null> {
  const pause = await readPause(ledger, { tenant, agent });
  if (pause === null) return null;
  const { at, by, reason } = pause;
  return { detail: describePause(agent, pause), facts: { agent, by, reason, since: new Date(at).toISOString() }, until: null };
}

function parsePause(text: string): AgentPause {
  return agentPauseSchema.parse(JSON.parse(text));
}

/** The gate of paused agents. */
export function pauseKind(ports: Reader): HoldKind {
  return {
    gate: 'agent',
    sort: 'hold',
    waits: 'until somebody resumes its agent, which is [paused](agents.md#pause-an-agent)',
    limit: 'none',
    order: HOLD_ORDER,
    opens: 'whoever resumes the agent',
    helps: 'It starts when somebody resumes its agent.',
    explain: async (tenant, agent) => await explainPause(ports, tenant, agent),
    endsWithCause: true,
  };
}
