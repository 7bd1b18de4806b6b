import type { ProcessRecord, WorkerRecord } from '../../queue/index.ts';
import { describeSkew } from '../../redis/index.ts';
import { isOlderZoneData, LEAST_ZONE_DATA } from '../../time/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';

const LINK = '/fleet';
/** A worker's clock, of which only the difference to Redis is known. */
const SKEW_WARN_MS = 1000;
/** Tasks start by the clock of Redis. Records and logs of a process with another clock contradict those of the others. */
const OWN_SKEW_WARN_MS = 500;
const OWN_SKEW_FAIL_MS = 5000;

/** The processes of the fleet: whether they live, move, agree, and know the time. */
export const MEMBER_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  {
    name: 'Workers',
    codes: ['worker.dead', 'worker.clock'],
    look: async (facts) => judgeWorkers(await facts.workers(), await facts.now()),
  },
  {
    name: 'Processes',
    codes: ['process.stopped'],
    look: async (facts) => judgeProcesses(await facts.processes(), await facts.workers()),
  },
  { name: 'Time zone data', codes: ['zone-data.old', 'zone-data.mixed'], look: async (facts) => judgeZoneData(await facts.processes()) },
  { name: 'Releases', codes: ['configuration.mixed'], look: async (facts) => judgeReleases(await facts.processes()) },
];

/** The clock of the process that looks. */
export const CLOCK_INSPECTION: Inspection<InstallationFacts> = {
  name: 'Clock',
  codes: ['process.clock'],
  look: async (facts) => judgeClock(await facts.skewMs(), facts.host),
};

/** A hub that died is found by then; later the record of the worker in its process may be gone first. */
const HUB_FOUND_MS = 600_000;

/** `now`: by the clock of Redis. */
export function judgeWorkers(members: readonly WorkerRecord[], now: number): Verdict {
  const live = members.filter(({ status }) => status !== 'dead');
  const withWorker = new Set(members.filter(({ role }) => role === 'worker').map(processOf));
  // One process is one finding: that of its worker stands for its hub.
  const isOwn = (member: WorkerRecord): boolean =>
    member.role === 'worker' || (!withWorker.has(processOf(member)) && now - member.lastBeatAt < HUB_FOUND_MS);
  const dead = members.filter((member) => member.status === 'dead' && isOwn(member));
  const skewed = live.filter(({ skewMs }) => Math.abs(skewMs) > SKEW_WARN_MS);
  // A hub has a heartbeat like a worker, and an inspection of its own.
  const running = live.filter(({ role }) => role === 'worker').length;
  const ids = new Set(live.map(({ id }) => id));
  return {
    findings: [...dead.map(describeDead), ...skewed.map(describeClock)],
    note: running === 0 ? 'none is running' : `${running} running`,
    // Its record goes after a while; somebody has to see that it died.
    keeps: ({ code, subject }) => code === 'worker.dead' && subject !== null && !ids.has(subject),
  };
}

function processOf({ id, host, pid }: WorkerRecord): string {
  return pid === null ? id : `${host} ${pid}`;
}

function describeDead({ id, role, running, lastBeatAt }: WorkerRecord): Finding {
  return findingOf({
    code: 'worker.dead',
    severity: 'warning',
    text: `The ${role} ${id} stopped without saying so; ${running === 0 ? 'it ran nothing' : 'its tasks went to others'}.`,
    helps: 'See why it ended: memory, a kill, its machine. Acknowledge this once it is known.',
    since: lastBeatAt,
    subject: id,
    link: LINK,
  });
}

function describeClock({ id, host, skewMs }: WorkerRecord): Finding {
  return findingOf({
    code: 'worker.clock',
    severity: 'warning',
    text: `The machine ${host} of ${id} is ${describeSkew(skewMs)}.`,
    helps: 'Synchronise its clock (NTP).',
    subject: id,
    link: LINK,
  });
}

/** What does not move in a process: what its `/readyz` answers, as its last beat has it. */
function judgeProcesses(processes: readonly ProcessRecord[], members: readonly WorkerRecord[]): Verdict {
  const reports = [
    ...processes.map(({ id, problems }) => ({ id, problems })),
    ...members.filter(({ status }) => status !== 'dead').map(({ id, stopped }) => ({ id, problems: stopped })),
  ].filter(({ problems }) => problems.length > 0);
  const seen = new Set<string>();
  const findings = reports.flatMap(({ id, problems }) => {
    // A worker reports with its heartbeat what its process reports too.
    const words = problems.join('; ');
    if (seen.has(words)) return [];
    seen.add(words);
    const text = `${id} can take no work: ${words}.`;
    const helps = 'It repairs itself within seconds where it can. Should this last, restart it.';
    return [findingOf({ code: 'process.stopped', severity: 'critical', text, helps, count: problems.length, subject: id, link: LINK })];
  });
  if (findings.length > 0) return { findings };
  return { findings, note: processes.length === 0 ? 'none is running' : `${processes.length} running, each ready` };
}

function judgeZoneData(processes: readonly ProcessRecord[]): Verdict {
  const [first] = processes;
  const old = processes.filter(({ zoneData }) => isOlderZoneData(zoneData, LEAST_ZONE_DATA));
  const words =
    old.length > 0
      ? `${describeBy(old, 'zoneData')}, older than ${LEAST_ZONE_DATA}: schedules of some zones fire an hour off`
      : `${describeBy(processes, 'zoneData')}: schedulers with the newest fire`;
  const areMixed = new Set(processes.map(({ zoneData }) => zoneData)).size > 1;
  if (old.length === 0 && !areMixed) return { findings: [], note: first ? `${first.zoneData} in all processes` : 'no process is running' };
  const code = old.length > 0 ? 'zone-data.old' : 'zone-data.mixed';
  const helps = old.length > 0 ? 'Run them on a newer Node.' : 'Run all on the same Node.';
  return { findings: [findingOf({ code, severity: 'warning', text: `Time zone data: ${words}.`, helps, link: LINK })] };
}

function judgeReleases(processes: readonly ProcessRecord[]): Verdict {
  const [first] = processes;
  const areMixed = new Set(processes.map(({ configuration }) => configuration)).size > 1;
  if (!areMixed) return { findings: [], note: first ? `${first.configuration} in all processes` : 'no process is running' };
  const text = `Configurations differ: ${describeBy(processes, 'configuration')}; schedules are those of the last that came.`;
  const helps = 'End the processes of the others; while a release goes out, wait.';
  return { findings: [findingOf({ code: 'configuration.mixed', severity: 'warning', text, helps, link: LINK })] };
}

/** Processes that are named of each value. */
const MAX_NAMED = 3;

export function describeBy(processes: readonly ProcessRecord[], field: 'zoneData' | 'configuration' | 'sealKey'): string {
  const groups = [...Map.groupBy(processes, (process) => process[field])].toSorted(([one], [other]) =>
    (one ?? '') < (other ?? '') ? -1 : 1,
  );
  return groups.map(([value, members]) => `${value || 'none'} in ${nameThem(members)}`).join(', ');
}

function nameThem(processes: readonly ProcessRecord[]): string {
  const names = processes.slice(0, MAX_NAMED).map(({ id }) => id);
  return processes.length > MAX_NAMED ? `${names.join(' ')} and ${processes.length - MAX_NAMED} more` : names.join(' ');
}

/** Each process knows its own clock alone: what another machine found of its own stands until that looks again. */
function judgeClock(skewMs: number, host: string): Verdict {
  const keeps: Verdict['keeps'] = ({ subject }) => subject !== host;
  const size = Math.abs(skewMs);
  if (size < OWN_SKEW_WARN_MS) return { findings: [], note: `${size} ms from Redis's`, keeps };
  const severity = size < OWN_SKEW_FAIL_MS ? 'warning' : 'critical';
  const text = `The machine ${host} is ${size} ms ${skewMs > 0 ? 'ahead of' : 'behind'} Redis.`;
  const finding = findingOf({ code: 'process.clock', severity, text, helps: 'Synchronise both (NTP).', subject: host, link: LINK });
  return { findings: [finding], keeps };
}
