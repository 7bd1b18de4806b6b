/** What happened, for readers: the stream of events of a tenant, the hints that all readers of a process share, and the watch over a task. */
export { EventFeed } from './event-feed.ts';
export {
  type FleetEvent,
  type TenantEvent,
  isEntryBefore,
  newestTenantEvent,
  publishFleetEvent,
  readTenantEvents,
} from './tenant-events.ts';
export { watchTask } from './watch-task.ts';
