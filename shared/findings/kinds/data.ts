import { type Finding, findingOf } from '../finding.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import type { UnreadableRecords } from '../facts/unreadable-records.ts';
import type { Inspection, Verdict } from '../inspection.ts';

/** What is stored: in a form that this release can read, and on its way out. */
export const DATA_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  {
    name: 'Data in Redis',
    codes: ['data.foreign', 'data.mixed'],
    look: async (facts) => judgeForm(await facts.foreignData(), await facts.foreignProcesses(), facts.shards),
  },
  { name: 'Records', codes: ['data.unreadable'], depth: 'deep', look: async (facts) => judgeRecords(await facts.unreadable()) },
  {
    name: 'Results going out',
    codes: ['ends.unfollowed', 'delivery.untaken'],
    look: async (facts) => judgeOutbound(await facts.unfollowedEnds(), await facts.waitingDeliveries(), await facts.now()),
  },
];

function judgeForm(problem: string | null, processes: readonly string[], shards: number): Verdict {
  if (problem === null && processes.length > 0) return { findings: [describeMixed(processes)] };
  if (problem === null) return { findings: [], note: `can be read, SHARDS=${shards}` };
  // The problem says what to do itself, which differs.
  const helps = 'Nothing of it is changed until then.';
  return { findings: [findingOf({ code: 'data.foreign', severity: 'critical', text: problem, helps, link: '/health' })] };
}

const SHOWN = 5;

function describeMixed(processes: readonly string[]): Finding {
  const { length: count } = processes;
  const names = [...processes.slice(0, SHOWN), ...(count > SHOWN ? [`${count - SHOWN} more`] : [])].join(', ');
  const text = `Processes of a release that keeps data in another form run beside this one: ${names}.`;
  const helps = 'Stop them: what they write may be lost, and they fail at what this release has written.';
  return findingOf({ code: 'data.mixed', severity: 'critical', text, helps, count, link: '/health' });
}

function judgeRecords({ found, tenants, allTenants }: UnreadableRecords): Verdict {
  const ofAll = tenants < allTenants ? `, of ${tenants} of ${allTenants} tenants` : '';
  if (found.length === 0) return { findings: [], note: `all checked records can be read${ofAll}` };
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  const text = `Records cannot be read: ${found.slice(0, SHOWN).join('; ')}${more}.`;
  const helps = 'Another release wrote them: run that one, or remove them.';
  return { findings: [findingOf({ code: 'data.unreadable', severity: 'warning', text, helps, count: found.length, link: '/health' })] };
}

/** A worker follows the end of a task within a few seconds. */
const LATE_MS = 60_000;
const MINUTE_MS = 60_000;
const CONSUMERS = { deliveries: 'a worker', replies: 'the service chat with the platform’s secrets' } as const;

type Ends = Awaited<ReturnType<InstallationFacts['unfollowedEnds']>>;
type Deliveries = Awaited<ReturnType<InstallationFacts['waitingDeliveries']>>;

/** Whether results are delivered: ended tasks are followed, and each kind of delivery has a process for it. */
function judgeOutbound(ends: Ends, deliveries: Deliveries, now: number): Verdict {
  const late = ends.flatMap(({ kind, count, oldestAt }) =>
    oldestAt !== null && now - oldestAt > LATE_MS ? [{ kind, count, oldestAt }] : [],
  );
  const untaken = deliveries.filter(({ waiting, takers }) => waiting > 0 && takers === 0);
  const findings = [
    ...late.map(({ kind, count, oldestAt }) =>
      findingOf({
        code: 'ends.unfollowed',
        severity: 'critical',
        text: `${count} ends of kind ${kind} are not followed for ${Math.round((now - oldestAt) / MINUTE_MS)} min.`,
        helps: 'Start a worker.',
        count,
        since: oldestAt,
        subject: kind,
        link: '/fleet',
      }),
    ),
    ...untaken.map(({ queue, waiting }) =>
      findingOf({
        code: 'delivery.untaken',
        severity: 'critical',
        text: `${waiting} ${queue} wait without a process that sends them.`,
        helps: `Start ${CONSUMERS[queue]}.`,
        count: waiting,
        subject: queue,
        link: '/deliveries',
      }),
    ),
  ];
  return findings.length === 0 ? { findings, note: 'nothing waits for a missing process' } : { findings };
}
