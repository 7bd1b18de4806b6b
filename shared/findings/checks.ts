import { describeRefusal, refusalOf } from '../redis/index.ts';
import type { Clock } from '../time/index.ts';
import { installationFacts, type InstallationPorts } from './facts/installation-facts.ts';
import type { RecordScope } from './facts/unreadable-records.ts';
import type { Finding } from './finding.ts';
import { type Inspected, inspectAll, reasonOf } from './inspection.ts';
import { INSTALLATION_INSPECTIONS } from './inspections.ts';

/** A row of `npx muster doctor` and of `GET /v1/checks`: a finding of the installation, or what there is where nothing was found. */
export interface CheckResult {
  /** Of the finding; absent where nothing was found. */
  id?: string | undefined;
  name: string;
  /** `warn`: it works with a weaker promise; `fail`: the fleet does not start or may lose work; `skip`: it could not be checked. */
  state: 'ok' | 'warn' | 'fail' | 'skip';
  /** The finding and, unless it is fine, its remedy, on one line. */
  detail: string;
  /** Whose it is, such as `agent writer`: no fault of the installation. Absent for what is the installation's. */
  of?: string | undefined;
}

const STATES = { critical: 'fail', warning: 'warn' } as const;

/** The rows of inspections. `findings`: those that stand, kept ones included; by default what was found now. */
export function viewChecks(inspected: readonly Inspected[], findings?: readonly Finding[]): CheckResult[] {
  return inspected.flatMap(({ name, codes, result }): CheckResult[] => {
    if ('skipped' in result) return [{ name, state: 'skip', detail: `could not be checked: ${result.skipped}` }];
    const own = findings?.filter(({ code }) => codes.includes(code)) ?? result.findings;
    const rows = own.map(({ id, severity, text, helps }) => ({ id, name, state: STATES[severity], detail: `${text} ${helps}` }));
    // What a finding says otherwise is not said beside it.
    const note = rows.length > 0 && result.findings.length === 0 ? null : (result.note ?? null);
    return [...(note === null ? [] : [{ name, state: 'ok' as const, detail: note }]), ...rows];
  });
}

/** Looks at an installation by its Redis alone. A single failed row when that does not answer. */
export async function checkInstallation(ports: InstallationPorts, clock: Clock, scope: RecordScope): Promise<CheckResult[]> {
  try {
    await ports.redis.exists(ports.keys.fleet.installation);
  } catch (error) {
    return [absent(error)];
  }
  return viewChecks(await inspectAll(INSTALLATION_INSPECTIONS, installationFacts(ports, clock, scope)));
}

function absent(error: unknown): CheckResult {
  const refusal = refusalOf(error);
  const name = 'Redis';
  if (refusal !== null) return { name, state: 'fail', detail: `refuses commands: ${describeRefusal(refusal)}` };
  return { name, state: 'fail', detail: `does not answer (${reasonOf(error)}): check REDIS_URL, and that the server runs` };
}
