import { DAEMON_STATUSES, readDaemonStates, statusOf } from '#shared/daemons/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { type GaugeOptions, memoize } from './gauge.ts';

/** What the daemons of all tenants are now. */
interface DaemonSums {
  byStatus: ReadonlyMap<string, number>;
  offered: number;
  used: number;
}

/** The gauges of daemons; one reading serves all of a scrape. */
export function daemonGauges(ledger: Ledger): GaugeOptions[] {
  const sums = memoize(() => readSums(ledger));
  return [
    {
      name: 'muster_daemons',
      help: 'Registered daemons by status',
      read: async () => {
        const { byStatus } = await sums();
        return DAEMON_STATUSES.map((status) => [{ status }, byStatus.get(status) ?? 0]);
      },
    },
    {
      name: 'muster_daemon_slots',
      help: 'Tasks that connected daemons can run at once, and tasks that they run',
      read: async () => {
        const { offered, used } = await sums();
        return [
          [{ state: 'offered' }, offered],
          [{ state: 'used' }, used],
        ];
      },
    },
  ];
}

async function readSums({ redis, keys }: Ledger): Promise<DaemonSums> {
  const [live, now, registered] = await Promise.all([
    readDaemonStates({ redis, keys }),
    redisNow(redis),
    // Each registered daemon has one token.
    redis.hlen(keys.fleet.daemonTokens),
  ]);
  const online = live.filter(({ state }) => statusOf(state, now) !== 'offline').map(({ state }) => state);
  const byStatus = new Map<string, number>(
    [...Map.groupBy(online, (state) => statusOf(state, now))].map(([status, all]) => [status, all.length]),
  );
  return {
    byStatus: byStatus.set('offline', Math.max(0, registered - online.length)),
    offered: online.reduce((total, { slots }) => total + slots, 0),
    used: online.reduce((total, { running }) => total + running, 0),
  };
}
