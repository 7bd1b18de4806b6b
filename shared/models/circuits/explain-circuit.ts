import { HOLD_ORDER, type HoldKind, type HoldReport, type Ledger } from '../../ledger/index.ts';
import { type CircuitPorts, readCircuit, tryCircuitBy } from './circuits.ts';
import { timeText } from '../../time/index.ts';

/** A circuit as the gate that holds tasks; null when it is closed. */
async function explainCircuit(ledger: Pick<Ledger, 'redis' | 'keys'>, tenant: string, what: string): Promise<HoldReport | null> {
  const circuit = await readCircuit(ledger, tenant, what);
  if (circuit?.probeAt === undefined) return null;
  const { failures, reason = '', probe, probeAt } = circuit;
  const [agent = '', endpoint = ''] = what.split(' ');
  const next = probe === undefined ? `the next call tries it at ${timeText(probeAt)}` : `one call tries it now`;
  return {
    detail: `${endpoint} failed ${failures} times in a row for the agent ${agent} (${reason}); ${next}`,
    facts: { agent, endpoint, failures, reason, probe: taskOf(probe) },
    until: probe === undefined ? probeAt : null,
  };
}

/** Callers are named as leases: tenant, task and token. */
function taskOf(caller: string | undefined): string | null {
  return caller?.split('/')[1] ?? null;
}

/** The gate of endpoints that failed too often. */
export function circuitKind(ports: CircuitPorts): HoldKind {
  return {
    gate: 'circuit',
    sort: 'hold',
    waits: 'until the endpoint answers again',
    limit: 'one call that tries',
    order: HOLD_ORDER,
    opens: 'an answer of the endpoint, or a retry by hand',
    helps: 'It starts when its endpoint answers again. Retry it to try now.',
    explain: async (tenant, name) => await explainCircuit(ports, tenant, name),
    endsWithCause: true,
    admitByHand: async (tenant, id, name) => await tryCircuitBy(ports, { tenant, id, name }),
  };
}
