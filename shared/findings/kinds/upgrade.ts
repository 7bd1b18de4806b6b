import { installedVersion } from '../../config/index.ts';
import type { ProcessRecord } from '../../queue/index.ts';
import { DATA_FORM, DATA_LEVEL, FORM_BEFORE } from '../../redis/index.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';

/** What the release that looks does to the fleet that runs, for who is about to start it. What forbids it is a finding of the data. */
export const UPGRADE_INSPECTION: Inspection<InstallationFacts> = {
  name: 'Upgrade',
  codes: [],
  depth: 'deep',
  look: async (facts) => describeUpgrade(await facts.dataForm(), await facts.processes(), await facts.suspended()),
};

function describeUpgrade(form: number | null, processes: readonly ProcessRecord[], suspended: ReadonlyMap<string, number>): Verdict {
  const sentences = [describeData(form), ...(form === DATA_FORM ? describeBeside(processes) : []), ...describeSuspended(suspended)];
  return { findings: [], note: `to ${installedVersion()}: ${sentences.join('; ')}` };
}

function describeData(form: number | null): string {
  if (form === null) return 'there is no data yet';
  if (form === DATA_FORM) return `no data is migrated, form ${form} is read and written`;
  if (form !== FORM_BEFORE) return `form ${form} of the data cannot be read, this release has form ${DATA_FORM}`;
  return (
    `the first process takes over the data of 0.1 (form ${form} becomes ${DATA_FORM}) once all processes of 0.1 have ended, and a start that is killed ` +
    'leaves nothing half done; there is no way back, so make a backup before'
  );
}

/** Processes that are named of each sort. */
const MAX_NAMED = 5;

function describeBeside(processes: readonly ProcessRecord[]): string[] {
  if (processes.length === 0) return ['no process is running'];
  const earlier = processes.filter(({ level = 0 }) => level < DATA_LEVEL);
  const later = processes.filter(({ level = 0 }) => level > DATA_LEVEL);
  if (earlier.length + later.length === 0)
    return [`${processes.length === 1 ? 'the one process knows' : `all ${processes.length} processes know`} what this release writes`];
  const helps = 'replace what serves HTTP first and workers last, and use what is new once they have ended';
  return [
    ...(earlier.length === 0 ? [] : [`${nameThem(earlier)} of an earlier release may run beside it: ${helps}`]),
    ...(later.length === 0 ? [] : [`${nameThem(later)} of a later release may run beside it, to roll back: workers end first`]),
  ];
}

function nameThem(processes: readonly ProcessRecord[]): string {
  const names = processes.slice(0, MAX_NAMED).map(({ id, release }) => `${id} (${release})`);
  const more = processes.length > MAX_NAMED ? [`${processes.length - MAX_NAMED} more`] : [];
  return [...names, ...more].join(', ');
}

function describeSuspended(suspended: ReadonlyMap<string, number>): string[] {
  const total = [...suspended.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return ['no run is suspended'];
  const byName = [...suspended].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const parts = byName.map(([version, count]) => `${count} ${version === '' ? 'without a version' : `of ${version}`}`);
  return [`suspended: ${parts.join(', ')}, which processes of 0.2.0 leave as they are`];
}
