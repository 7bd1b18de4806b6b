import type { Parts } from '#shared/lifecycle/index.ts';
import { ChoreWorker, type JobSource, slotsOf } from '#shared/queue/index.ts';
import { cleanTenants } from './clean-tenants.ts';
import { promoteBacklogs } from './promote-backlogs.ts';
import { removeTickets, type RemovalPlaces } from './remove-tickets.ts';
import { TicketAudit } from './ticket-audit.ts';
import { trimTasks } from './trim-tasks.ts';
import { watchDeadlines } from './watch-deadlines.ts';
import { watchPressure } from './watch-pressure.ts';

const DEADLINES_EVERY_MS = 10_000;
const PRESSURE_EVERY_MS = 5000;
const PROMOTE_EVERY_MS = 5000;

/** The fleet's own chores, on workers that serve the queue `maintenance`. */
export function openChores(parts: Parts, source: JobSource): ChoreWorker[] {
  const { settings, env } = parts.config;
  if (!slotsOf(settings, env.MUSTER_QUEUES).get('maintenance')) return [];
  const audit = new TicketAudit(parts);
  const removals: RemovalPlaces = new Map();
  const chores = [
    { name: 'audit-tickets', everyMs: settings.worker.ticketAuditMs, run: () => audit.run() },
    { name: 'remove-tickets', everyMs: settings.worker.ticketAuditMs, run: () => removeTickets(parts, removals) },
    { name: 'watch-deadlines', everyMs: DEADLINES_EVERY_MS, run: () => watchDeadlines(parts) },
    { name: 'watch-pressure', everyMs: PRESSURE_EVERY_MS, run: () => watchPressure(parts) },
    { name: 'promote-backlogs', everyMs: PROMOTE_EVERY_MS, run: () => promoteBacklogs(parts) },
    { name: 'clean-tenants', everyMs: settings.tenants.cleanMs, run: () => cleanTenants(parts) },
    { name: 'trim-tasks', everyMs: settings.tasks.trimMs, run: () => trimTasks(parts) },
  ];
  return [new ChoreWorker({ chores, source })];
}
