/** What happened, for readers: a tenant's stream of events, the hints that all readers of a process share, and watches that hints wake. */
export { remindOfQuestions } from './question-events.ts';
export {
  type FleetEvent,
  type TenantEvent,
  isEntryBefore,
  newestTenantEvent,
  publishDaemonEvent,
  publishFindingEvent,
  publishFleetEvent,
  readTenantEvents,
} from './tenant-events.ts';
export { EventFeed, watchTask, watchTenant } from './watch.ts';
