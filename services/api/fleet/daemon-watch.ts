import type { Settings } from '#shared/config/index.ts';
import { type LiveDaemon, readDaemonStates, removeDaemonState, statusOf } from '#shared/daemons/index.ts';
import { publishDaemonEvent } from '#shared/events/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type Keys, type RedisClient, redisNow } from '#shared/redis/index.ts';

export interface WatchDaemonsPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly log: Log;
}

/**
 * Marks daemons as offline that were lost with their hub, and notifies their tenants; once in the fleet. Their beats stopped, and no other hub
 * took them over. APIs do, because every hub may be gone.
 */
export async function watchDaemons(ports: WatchDaemonsPorts): Promise<void> {
  const [live, now] = await Promise.all([readDaemonStates(ports), redisNow(ports.redis)]);
  for (const daemon of live) if (statusOf(daemon.state, now) === 'offline') await markOffline(ports, daemon);
}

async function markOffline(
  ports: WatchDaemonsPorts,
  { tenant, id, state: { connection, hub, name, user, tasks } }: LiveDaemon,
): Promise<void> {
  if (!(await removeDaemonState(ports, { tenant, id, connection }))) return;
  ports.log.warn({ event: 'daemon.disconnected', daemon: id, tenant, name, hub, affectedTasks: tasks }, 'a daemon was lost with its hub');
  await publishDaemonEvent(ports, tenant, { event: 'daemon.disconnected', daemon: id, name, user });
}
