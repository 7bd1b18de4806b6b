import { findingOf } from '../finding.ts';
import type { DaemonCounts, InstallationFacts, WaitingForDaemons } from '../facts/installation-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';
import type { WorkerRecord } from '../../queue/index.ts';

/** Whether the queues start their tasks, and what daemons need: a hub, connections to it, and tasks that find one. */
export const QUEUE_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  {
    name: 'Queues',
    codes: ['queue.unserved', 'queue.paused'],
    look: async (facts) => judgeQueues(await facts.unserved(), await facts.pausedQueues()),
  },
  {
    name: 'Hubs',
    codes: ['hub.missing'],
    look: async (facts) => judgeHubs(await facts.workers(), await facts.daemons(), await facts.waitingForDaemons()),
  },
  { name: 'Daemons', codes: [], look: async (facts) => ({ findings: [], note: describeDaemons(await facts.daemons()) }) },
  {
    name: 'Tasks for daemons',
    codes: ['daemon.missing'],
    look: async (facts) => judgeTasksForDaemons((await facts.waitingForDaemons()).held),
  },
];

type Unserved = Awaited<ReturnType<InstallationFacts['unserved']>>;

function judgeQueues(unserved: Unserved, paused: readonly string[]): Verdict {
  const findings = [
    ...unserved.map(({ queue, since, reason }) =>
      findingOf({
        code: 'queue.unserved',
        severity: 'critical',
        text: `Tasks wait in the queue "${queue}", and ${reason.replace(`the queue "${queue}"`, 'it')}.`,
        helps: 'Start a worker that serves it.',
        since,
        link: '/queues',
        subject: queue,
      }),
    ),
    ...paused.map((queue) =>
      findingOf({
        code: 'queue.paused',
        severity: 'warning',
        text: `The queue "${queue}" is paused and starts nothing.`,
        helps: 'Resume it when its tasks may start.',
        link: '/queues',
        subject: queue,
      }),
    ),
  ];
  return findings.length === 0 ? { findings, note: 'none is paused, and workers take what waits' } : { findings };
}

function judgeHubs(members: readonly WorkerRecord[], { registered }: DaemonCounts, { held, unseen }: WaitingForDaemons): Verdict {
  const hubs = members.filter(({ role, status }) => role === 'hub' && status !== 'dead').length;
  if (hubs > 0 || registered + held + unseen === 0) return { findings: [], note: hubs === 0 ? 'none is running' : `${hubs} running` };
  const waiting = held + unseen;
  const text = `No hub is running, so that no daemon can connect${waiting === 0 ? '' : `, and ${tasks(waiting)} for one`}.`;
  const helps = 'Start the service hub.';
  return { findings: [findingOf({ code: 'hub.missing', severity: 'warning', text, helps, count: Math.max(1, waiting), link: '/fleet' })] };
}

function describeDaemons({ registered, connected }: DaemonCounts): string {
  return registered === 0 ? 'none is registered' : `${registered} registered, ${connected} connected`;
}

/** Of all tenants for the installation, of one for its people. */
export function judgeTasksForDaemons(held: number): Verdict {
  if (held === 0) return { findings: [], note: 'none waits' };
  const text = `${tasks(held)} for a daemon that is offline, full or missing.`;
  const helps = 'Connect one that fits: npx muster daemons lists them, npx muster why <id> says what a task needs.';
  return {
    findings: [findingOf({ code: 'daemon.missing', severity: 'warning', gate: 'daemon', text, helps, count: held, link: '/fleet' })],
  };
}

function tasks(count: number): string {
  return count === 1 ? '1 task waits' : `${count} tasks wait`;
}
