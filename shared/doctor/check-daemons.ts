import { readKnownDaemons, statusOf } from '../daemons/index.ts';
import { countAllHeldByGate, measureReady } from '../ledger/index.ts';
import { listWorkers, type RegistryPorts, type WorkerRecord } from '../queue/index.ts';
import { redisNow } from '../redis/index.ts';
import { DEFAULT_TENANT } from '../tenants/index.ts';
import type { CheckResult, CheckPorts } from './check.ts';

/** What daemons need: a hub that answers, connections to it, and tasks that find one. */
export async function checkDaemons(fleet: CheckPorts): Promise<CheckResult[]> {
  const [records, found, waiting] = await Promise.all([listWorkers(fleet), countDaemons(fleet), countWaiting(fleet)]);
  const hubs = records.filter(({ role, status }) => role === 'hub' && status !== 'dead');
  return [...describeHubs(hubs, found.registered > 0 || waiting > 0), describeDaemons(found), describeWaiting(waiting, found.connected)];
}

interface DaemonCounts {
  registered: number;
  connected: number;
}

async function countDaemons(fleet: RegistryPorts): Promise<DaemonCounts> {
  const { redis, keys } = fleet;
  const [registered, known, now] = await Promise.all([redis.hlen(keys.fleet.daemonTokens), readKnownDaemons(fleet), redisNow(redis)]);
  // Workers with capabilities have a state too, and no registration.
  const connected = known.filter(({ isConnected, state }) => isConnected && !state.isWorker && statusOf(state, now) !== 'offline');
  return { registered, connected: connected.length };
}

/** Tasks that no hub has taken yet, with a ticket or ready for one, and those that were held until a daemon fits. */
async function countWaiting({ redis, keys, queues }: CheckPorts): Promise<number> {
  const tenants = new Set([DEFAULT_TENANT, ...(await redis.hkeys(keys.fleet.tenants))]);
  const remote = queues.all().filter(({ name }) => name === 'remote');
  const counts = await Promise.all([
    ...remote.map(async ({ queue }) => await queue.getJobCountByTypes('waiting', 'prioritized')),
    ...remote.map(async ({ shard }) => (await measureReady({ redis, keys }, shard, 'remote')).count),
    countAllHeldByGate({ redis, keys }, [...tenants], 'daemon'),
  ]);
  return counts.reduce((total, count) => total + count, 0);
}

function describeHubs(hubs: readonly WorkerRecord[], isNeeded: boolean): CheckResult[] {
  const name = 'Hubs';
  if (hubs.length === 0 && isNeeded) {
    return [{ name, state: 'warn', detail: 'none is running, so that no daemon can connect: start the service hub' }];
  }
  const problems = hubs.flatMap(({ id, stopped }) =>
    stopped.map((problem): CheckResult => ({ name, state: 'warn', detail: `${id}: ${problem}` })),
  );
  return [{ name, state: 'ok', detail: hubs.length === 0 ? 'none is running' : `${hubs.length} running` }, ...problems];
}

function describeDaemons({ registered, connected }: DaemonCounts): CheckResult {
  return {
    name: 'Daemons',
    state: 'ok',
    detail: registered === 0 ? 'none is registered' : `${registered} registered, ${connected} connected`,
  };
}

function describeWaiting(waiting: number, connected: number): CheckResult {
  const name = 'Tasks for daemons';
  if (waiting === 0) return { name, state: 'ok', detail: 'none waits' };
  const detail = waiting === 1 ? '1 task waits for a daemon' : `${waiting} tasks wait for a daemon`;
  if (connected > 0) return { name, state: 'ok', detail: `${detail}; npx muster why <id> says for which` };
  return { name, state: 'warn', detail: `${detail}, and none is connected: npx muster daemons lists those that are registered` };
}
