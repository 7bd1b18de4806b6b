import { listProcesses, type ProcessRecord } from '../queue/index.ts';
import { isOlderZoneData, LEAST_ZONE_DATA } from '../time/index.ts';
import type { CheckPorts, CheckResult } from './check.ts';

/** Whether the processes that live agree: about the clocks of time zones, and about the configuration. */
export async function checkProcesses(fleet: CheckPorts): Promise<CheckResult[]> {
  const processes = await listProcesses(fleet);
  return [checkZoneData(processes), checkConfigurations(processes)];
}

function checkZoneData(processes: readonly ProcessRecord[]): CheckResult {
  const name = 'Time zone data';
  const found = oldZoneData(processes) ?? mixedZoneData(processes);
  if (found !== null) return { name, state: 'warn', detail: found };
  const [first] = processes;
  return { name, state: 'ok', detail: first === undefined ? 'no process is running' : `${first.zoneData} in all processes` };
}

function checkConfigurations(processes: readonly ProcessRecord[]): CheckResult {
  const name = 'Releases';
  const found = mixedConfigurations(processes);
  if (found !== null) return { name, state: 'warn', detail: found };
  const [first] = processes;
  return { name, state: 'ok', detail: first === undefined ? 'no process is running' : `${first.configuration} in all processes` };
}

/** In words: processes whose data is older than what is true today; null without any. */
export function oldZoneData(processes: readonly ProcessRecord[]): string | null {
  const old = processes.filter(({ zoneData }) => isOlderZoneData(zoneData, LEAST_ZONE_DATA));
  if (old.length === 0) return null;
  return `${describeBy(old, 'zoneData')}, older than ${LEAST_ZONE_DATA}: schedules of some zones fire an hour off; run them on a newer Node`;
}

/** In words: processes of different data; null when all have the same. */
export function mixedZoneData(processes: readonly ProcessRecord[]): string | null {
  if (new Set(processes.map(({ zoneData }) => zoneData)).size < 2) return null;
  return `${describeBy(processes, 'zoneData')}: schedulers with the newest fire; run all on the same Node`;
}

/** In words: processes of different releases or configurations; null when all have the same. */
export function mixedConfigurations(processes: readonly ProcessRecord[]): string | null {
  if (new Set(processes.map(({ configuration }) => configuration)).size < 2) return null;
  return `${describeBy(processes, 'configuration')}: schedules are those of the last that came; end the others`;
}

/** Processes that are named of each value. */
const MAX_NAMED = 3;

function describeBy(processes: readonly ProcessRecord[], field: 'zoneData' | 'configuration'): string {
  const groups = [...Map.groupBy(processes, (process) => process[field])].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return groups.map(([value, members]) => `${value || 'none'} in ${nameThem(members)}`).join(', ');
}

function nameThem(processes: readonly ProcessRecord[]): string {
  const names = processes.slice(0, MAX_NAMED).map(({ id }) => id);
  return processes.length > MAX_NAMED ? `${names.join(' ')} and ${processes.length - MAX_NAMED} more` : names.join(' ');
}
