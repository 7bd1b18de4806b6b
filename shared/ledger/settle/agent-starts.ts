import { HeldFailure, type TaskHold } from '../../errors/index.ts';
import type { Ledger } from '../ledger.ts';
import { describeFailures, failuresHold, forgetFailures, readFailing, readHeld, releaseAll, releaseIfForgotten } from './agent-failures.ts';
import { describePause, endPause, pauseHold, readPauses, readPause, releaseIfUnpaused, type TenantAgent } from './paused-agents.ts';

/** Why the tasks of an agent do not start. */
export interface StartHold {
  code: string;
  reason: string;
  hold: TaskHold;
}

/** What holds an agent's tasks: a pause, or its failures. */
export interface AgentHold {
  gate: 'agent' | 'failures';
  /** Since when, ms since the epoch. */
  since: number;
  /** For people, without a full stop. */
  reason: string;
}

/**
 * Throws what holds a task whose agent is paused or failed too often in a row. Reads once a second at most while nothing holds it, so
 * that each worker learns of a pause within a second.
 */
export async function assertAgentStarts(ledger: Ledger, of: TenantAgent): Promise<void> {
  const held = await (ledger.working.get(`${of.tenant}/${of.agent}`) ?? readAndRemember(ledger, of));
  if (held === null) return;
  throw new HeldFailure(held.code, held.reason, { hold: held.hold, retryAfterMs: ledger.settings.runaways.maxHoldMs });
}

/** What holds the tasks of a tenant's agents, by agent. */
export async function readAgentHolds(ledger: Ledger, tenant: string): Promise<Map<string, AgentHold>> {
  const [failing, pauses] = await Promise.all([readFailing(ledger, tenant), readPauses(ledger, tenant)]);
  const holds = new Map<string, AgentHold>();
  for (const [agent, held] of failing) holds.set(agent, { gate: 'failures', since: held.heldAt, reason: describeFailures(agent, held) });
  for (const [agent, pause] of pauses) holds.set(agent, { gate: 'agent', since: pause.at, reason: describePause(agent, pause) });
  return holds;
}

/** Ends the pause of an agent, forgets its failures, and releases in their order the tasks that these held. */
export async function resumeAgent(ledger: Ledger, of: TenantAgent): Promise<void> {
  await Promise.all([endPause(ledger, of), forgetFailures(ledger, of)]);
  await releaseAll(ledger, of.tenant, of.agent);
}

/** Releases tasks that were held while a person resumed their agent. */
export async function releaseIfResumed(ledger: Ledger, tenant: string, { gate, what: agent }: TaskHold): Promise<void> {
  if (gate === 'failures') await releaseIfForgotten(ledger, { tenant, agent });
  if (gate === 'agent') await releaseIfUnpaused(ledger, { tenant, agent });
}

/** Callers at the same time share one reading, so that they go on in their order. Only that an agent may start is remembered. */
function readAndRemember(ledger: Ledger, of: TenantAgent): Promise<StartHold | null> {
  const name = `${of.tenant}/${of.agent}`;
  const forget = (): void => ledger.working.delete(name);
  const reading = readStartHold(ledger, of);
  ledger.working.set(name, reading);
  reading.then((held) => held !== null && forget(), forget);
  return reading;
}

async function readStartHold(ledger: Ledger, of: TenantAgent): Promise<StartHold | null> {
  const { agent } = of;
  const isCounted = ledger.settings.runaways.maxFailures > 0;
  const [pause, failures] = await Promise.all([readPause(ledger, of), isCounted ? readHeld(ledger, of) : null]);
  if (pause !== null) return { code: 'AGENT_PAUSED', reason: describePause(agent, pause), hold: pauseHold(agent) };
  if (failures !== null) return { code: 'RUNAWAY', reason: `Runaway: ${describeFailures(agent, failures)}`, hold: failuresHold(agent) };
  return null;
}
