import { basename } from 'node:path';
import { type Settings, settingsSchema } from '#shared/config/settings/settings.ts';
import { type ChoreName, choreNames, definitionOf } from '#shared/queue/chores/chores.ts';

const RUNS = { job: 'one in the fleet, a repeatable job', lease: 'one in the fleet, under a lease', process: 'each' } as const;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

const CHORES = 'services/worker/chores';

/** Where what a chore does is written. */
const CHORE_FILES: Readonly<Record<ChoreName, string>> = {
  'reclaim-attempts': `${CHORES}/reclaimer.ts`,
  'reissue-tickets': `${CHORES}/reclaimer.ts`,
  'release-lost-claims': `${CHORES}/release-lost-claims.ts`,
  'see-to-waits': `${CHORES}/see-to-waits.ts`,
  'send-events': `${CHORES}/see-to-waits.ts`,
  'continue-cancels': `${CHORES}/continue-cancels.ts`,
  'follow-sub-tasks': 'shared/waits/sub-tasks/resume-parent.ts',
  'promote-due': `${CHORES}/promote-due.ts`,
  'release-providers': `${CHORES}/release-providers.ts`,
  'run-model-batches': 'shared/agents/batches/run-model-batches.ts',
  'share-fleet-caps': `${CHORES}/share-fleet-caps.ts`,
  'follow-ended-runs': 'shared/schedules/firing/follow-ended-runs.ts',
  'expect-suspects': 'services/worker/isolation/isolation-pool.ts',
  'remind-of-questions': 'shared/events/question-events.ts',
  'watch-workers': 'shared/queue/registry/worker-watch.ts',
  'watch-daemons': 'services/api/fleet/daemon-watch.ts',
  'look-for-findings': 'shared/findings/list/finding-watch.ts',
  'run-batches': 'services/api/openai/batches/run-batches.ts',
  'restart-jobs': 'shared/queue/chores/chore-jobs.ts',
  'audit-tickets': `${CHORES}/audit-tickets.ts`,
  'remove-tickets': `${CHORES}/audit-tickets.ts`,
  'watch-deadlines': `${CHORES}/watch-deadlines.ts`,
  'watch-slas': `${CHORES}/watch-slas.ts`,
  'watch-pressure': `${CHORES}/watch-pressure.ts`,
  'sample-metrics': `${CHORES}/sample-metrics.ts`,
  'promote-backlogs': 'shared/ledger/grants/apply-limits.ts',
  'apply-closed-queues': 'shared/queue/tickets/closed-queues.ts',
  'release-holds': 'shared/budgets/release-budgets.ts',
  'run-actions': `${CHORES}/run-actions.ts`,
  'release-circuits': 'shared/models/circuits/release-circuits.ts',
  'clean-tenants': `${CHORES}/clean-tenants.ts`,
  'remove-files': 'shared/files/file-cleaner.ts',
  'seal-secrets': 'shared/tenants/sealing/tenant-secrets.ts',
  'snapshot-machine': `${CHORES}/snapshot-machine.ts`,
  'index-tasks': `${CHORES}/index-tasks.ts`,
  'trim-tasks': `${CHORES}/trim-tasks.ts`,
  'archive-tasks': 'shared/ledger/archive/task-archiving.ts',
};

/** A row for each chore: name, who runs it, how often by which setting, what it guarantees, and its file. */
export function choreRows(): string[] {
  const standard = settingsSchema.parse({});
  return choreNames().map((name) => {
    const { runs, by, everyMs, guarantees } = definitionOf(name);
    const read: string[] = [];
    const ms = everyMs(recorded(standard, '', read) as Settings);
    const setting = read.length === 0 ? '' : `, \`${read.join('`, `')}\``;
    return `| \`${name}\` | ${by.join(', ')}; ${RUNS[runs]} | ${durationOf(ms)}${setting} | ${guarantees} | [${basename(CHORE_FILES[name])}](../${CHORE_FILES[name]}) |`;
  });
}

/** The same settings, which note the paths of the figures that are read. */
function recorded(settings: object, path: string, read: string[]): object {
  return new Proxy(settings, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      const own = `${path}${String(name)}`;
      if (typeof value === 'object' && value !== null) return recorded(value, `${own}.`, read);
      read.push(own);
      return value;
    },
  });
}

function durationOf(ms: number): string {
  if (ms >= MINUTE) return `${ms / MINUTE} min`;
  return ms >= SECOND ? `${ms / SECOND} s` : `${ms} ms`;
}
