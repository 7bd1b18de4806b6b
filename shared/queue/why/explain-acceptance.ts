import type { Ledger } from '../../ledger/index.ts';
import { closedGate, type GateReport, type WaitingTask } from './wait-reason.ts';

/** A task that was given to a daemon, which has not accepted it: when it does not in time, another daemon gets the task. */
export async function explainAcceptance(ledger: Ledger, { body: { tenant }, state }: WaitingTask): Promise<GateReport> {
  const { daemon = '', scheduledAt = null, attempt } = state;
  const { acceptMs } = ledger.settings.hub;
  const name = (await ledger.daemonNameOf?.(tenant, daemon)) ?? daemon;
  return closedGate('daemon', {
    detail: `the daemon "${name}" has not accepted it yet`,
    helps: `It starts when the daemon accepts it. A connected daemon that does not within ${acceptMs} ms loses it to another.`,
    since: scheduledAt,
    until: scheduledAt === null ? null : scheduledAt + acceptMs,
    facts: { daemon, name, attempt, acceptMs },
  });
}
