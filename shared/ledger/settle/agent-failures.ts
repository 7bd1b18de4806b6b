import { z } from 'zod';
import { HeldFailure, type TaskHold } from '../../errors/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import { releaseHeld } from '../grants/release-held.ts';
import type { HoldReport, Ledger } from '../ledger.ts';

/** Failures that do not count against the agent. */
const NOT_OF_AGENT: ReadonlySet<string> = new Set(['RUNAWAY', 'BUDGET_EXCEEDED', 'DEADLINE_PASSED', 'INVALID_INPUT', 'AGENT_NOT_FOUND']);

/** What an end counts for its agent's failures in a row, as `settle-attempts.lua` takes it: its name, with the code of a failure; else nothing. */
export function agentEnd({ agent, status, error }: Pick<TaskState, 'agent' | 'status' | 'error'>): string {
  if (status === 'completed') return agent;
  if (status !== 'permanently_failed' || error === undefined || NOT_OF_AGENT.has(error.code)) return '';
  return `${agent} ${error.code}`;
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
export type AgentFailures = z.infer<typeof failuresSchema>;

interface TenantAgent {
  tenant: string;
  agent: string;
}

type Reader = Pick<Ledger, 'redis' | 'keys'>;

async function readHeld({ redis, keys }: Reader, { tenant, agent }: TenantAgent): Promise<AgentFailures | null> {
  const stored = await redis.hget(keys.tenant(tenant).failing, agent);
  const read = stored === null ? null : failuresSchema.parse(JSON.parse(stored));
  return read?.heldAt === undefined ? null : read;
}

function holdOf(agent: string): TaskHold {
  return { gate: 'failures', what: agent };
}

/** Throws what holds a task whose agent failed too often in a row. Reads once a second at most while it did not. */
export async function assertNotFailing(ledger: Ledger, of: TenantAgent): Promise<void> {
  const { maxFailures, maxHoldMs } = ledger.settings.runaways;
  if (maxFailures === 0) return;
  const held = await (ledger.working.get(`${of.tenant}/${of.agent}`) ?? readAndRemember(ledger, of));
  if (held === null) return;
  throw new HeldFailure('RUNAWAY', `Runaway: ${describe(of.agent, held)}`, { hold: holdOf(of.agent), retryAfterMs: maxHoldMs });
}

/** Callers at the same time share one reading, so that they go on in their order. Only that an agent works is remembered. */
function readAndRemember(ledger: Ledger, of: TenantAgent): Promise<AgentFailures | null> {
  const name = `${of.tenant}/${of.agent}`;
  const forget = (): void => ledger.working.delete(name);
  const reading = readHeld(ledger, of);
  ledger.working.set(name, reading);
  reading.then((held) => held !== null && forget(), forget);
  return reading;
}

function describe(agent: string, { failures, code, task }: AgentFailures): string {
  return `${failures} tasks of the agent ${agent} failed in a row, the last one (${task}) with ${code}`;
}

/** Releases tasks that were held while a person resumed their agent. */
export async function releaseIfResumed(ledger: Ledger, tenant: string, { gate, what }: TaskHold): Promise<void> {
  if (gate === 'failures' && (await readHeld(ledger, { tenant, agent: what })) === null) await releaseAll(ledger, tenant, what);
}

/** Forgets an agent's failures, so that its tasks may start. Held tasks need `releaseAll`. Returns whether any failed. */
export async function forgetFailures({ redis, keys }: Reader, { tenant, agent }: TenantAgent): Promise<boolean> {
  return (await redis.hdel(keys.tenant(tenant).failing, agent)) === 1;
}

/** Releases all tasks that the failures of an agent hold, in their order. */
export async function releaseAll(ledger: Ledger, tenant: string, agent: string): Promise<void> {
  await releaseHeld(ledger, tenant, holdOf(agent), Infinity);
}

/** The failures of an agent as the gate that holds its tasks; null when they do not. */
export async function explainFailures(ledger: Reader, tenant: string, agent: string): Promise<HoldReport | null> {
  const held = await readHeld(ledger, { tenant, agent });
  if (held === null) return null;
  const { failures, code, task } = held;
  return {
    detail: `${describe(agent, held)}; its tasks start again when a person retries one of them`,
    facts: { agent, failures, code, lastFailed: task },
    until: null,
  };
}
