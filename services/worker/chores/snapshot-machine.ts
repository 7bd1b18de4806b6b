import { cpus, freemem, hostname, loadavg, totalmem } from 'node:os';
import { laneOfTask, type Ledger, parseLease, readStates } from '#shared/ledger/index.ts';
import { addSnapshot, listWorkers, sessionLane, type Snapshot } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';

const BYTES_PER_MB = 1_048_576;
/** Leases read at once. */
const PAGE = 500;
/** What every lane of a session begins with. */
const SESSION_LANE = sessionLane('');

/** MachineSnapshots is responsible for the series of snapshots that `GET /v1/fleet` shows; CPU is measured from one to the next. */
export class MachineSnapshots {
  readonly #ledger: Ledger;
  #cpu: CpuTimes;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#cpu = readCpu();
  }

  async run(): Promise<void> {
    const [at, workers, lanes] = await Promise.all([redisNow(this.#ledger.redis), listWorkers(this.#ledger), countLanes(this.#ledger)]);
    const live = Map.groupBy(
      workers.filter(({ status }) => status !== 'dead'),
      ({ role }) => role,
    );
    const members = { activeWorkers: live.get('worker')?.length ?? 0, activeHubs: live.get('hub')?.length ?? 0 };
    await addSnapshot(this.#ledger, { at, ...this.#measure(), ...members, ...lanes });
  }

  #measure(): Pick<Snapshot, 'host' | 'cpuPercent' | 'memoryMb' | 'totalMemoryMb' | 'load'> {
    const [before, now] = [this.#cpu, readCpu()];
    this.#cpu = now;
    const share = (now.busy - before.busy) / Math.max(1, now.all - before.all);
    return {
      host: hostname(),
      cpuPercent: Math.round(share * 1000) / 10,
      memoryMb: Math.round((totalmem() - freemem()) / BYTES_PER_MB),
      totalMemoryMb: Math.round(totalmem() / BYTES_PER_MB),
      load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    };
  }
}

/** Of all cores, ms since the machine started. */
interface CpuTimes {
  busy: number;
  all: number;
}

function readCpu(): CpuTimes {
  const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({ busy: user + nice + sys + irq, idle }));
  const busy = times.reduce((total, each) => total + each.busy, 0);
  return { busy, all: times.reduce((total, each) => total + each.idle, busy) };
}

/** Attempts that run, and the lanes that their tasks hold. */
async function countLanes(ledger: Ledger): Promise<Pick<Snapshot, 'running' | 'lanesHeld' | 'sessions'>> {
  const lanes = new Set<string>();
  let [running, sessions] = [0, 0];
  for await (const { tenant, tasks } of leasedTasks(ledger)) {
    running += tasks.length;
    const states = await readStates(ledger, tenant, tasks);
    for (const [position, task] of tasks.entries()) {
      const lane = states[position]?.lane ?? laneOfTask(task);
      const name = `${tenant}/${lane}`;
      if (!lanes.has(name) && lane.startsWith(SESSION_LANE)) sessions += 1;
      lanes.add(name);
    }
  }
  return { running, lanesHeld: lanes.size, sessions };
}

/** The tasks with a lease, by tenant, in pages. */
async function* leasedTasks({ redis, keys }: Ledger): AsyncGenerator<{ tenant: string; tasks: string[] }> {
  for (let shard = 0; shard < keys.shards; shard += 1) {
    const { leases } = keys.shard(shard);
    for (let from = 0; ; from += PAGE) {
      const members = (await redis.zrange(leases, from, String(from + PAGE - 1))).map((member) => parseLease(member));
      for (const [tenant, own] of Map.groupBy(members, (member) => member.tenant)) yield { tenant, tasks: own.map(({ id }) => id) };
      if (members.length < PAGE) break;
    }
  }
}
