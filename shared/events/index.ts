/** What happened, for those who listen: the stream of a tenant's events, the feed that readers share, and the ends of tasks. */
export { EventFeed } from './event-feed.ts';
export { type FleetEvent, tellFleet } from './tell-fleet.ts';
export { type TenantEvent, isEntryBefore, newestTenantEvent, readTenantEvents } from './tenant-events.ts';
export { watchTask } from './watch-task.ts';
