import { FleetLimitsDirectory } from '../tenants/index.ts';
import { createLog } from '../log/index.ts';
import type { RegistryPorts } from '../queue/index.ts';
import type { CheckResult } from './check.ts';
import { timeText } from '../time/index.ts';

/** Shows the limits of the fleet, which may be others than this machine's configuration says. */
export async function checkLimits(fleet: RegistryPorts): Promise<CheckResult> {
  const limits = new FleetLimitsDirectory({ ...fleet, log: createLog({ level: 'silent', service: 'doctor' }) });
  await limits.refresh();
  const { stored, configured } = limits;
  const { maxConcurrent, ...others } = limits.current();
  const figures = Object.entries(others).flatMap(([name, figure]) => {
    if (figure === null) return [];
    return typeof figure === 'object' ? Object.keys(figure).map((each) => `${name}.${each}`) : [name];
  });
  const named = figures.length === 0 ? '' : `, and ${figures.join(', ')}`;
  const detail = `${maxConcurrent} attempts at once${named}`;
  if (stored === null) return { name: 'Limits', state: 'ok', detail: `${detail}, by the configuration` };
  const changed = `${detail}, changed by API at ${timeText(stored.changedAt)}`;
  return { name: 'Limits', state: 'ok', detail: `${changed}; the configuration says ${configured.maxConcurrent} at once` };
}
