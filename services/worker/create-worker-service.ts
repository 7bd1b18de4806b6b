import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { assertAgents, endOrphanedCommands } from '#shared/agents/index.ts';
import { secretVariables, type TaskQueue } from '#shared/config/index.ts';
import { publishFleetEvent } from '#shared/events/index.ts';
import { outboxEntry, readState } from '#shared/ledger/index.ts';
import { type Parts, type Service, openExecutor } from '#shared/lifecycle/index.ts';
import {
  type FleetNotice,
  FleetPermits,
  type FleetPermitsOptions,
  type JobSource,
  openJobSource,
  parseTicketId,
  permitsFor,
  planSlots,
  ReadyTickets,
  slotsOf,
  TicketWorker,
  WorkerWatch,
} from '#shared/queue/index.ts';
import { systemClock, within } from '#shared/time/index.ts';
import { openChores } from './chores/open-chores.ts';
import { executeTicket, type ExecuteTicketParts } from '#shared/execution/index.ts';
import { isolatedName } from './isolation/isolation-messages.ts';
import { IsolatedProcess } from './isolation/isolated-process.ts';
import { IsolationPool } from './isolation/isolation-pool.ts';
import { expireAttempt, Reclaimer, routeOfLoss } from './upkeep/reclaimer.ts';
import { DuePromoter } from './upkeep/due-promoter.ts';
import { FleetSharer } from './upkeep/fleet-sharer.ts';
import { openFollowUps } from './upkeep/follow-ups.ts';
import { Heartbeat, type HeartbeatOptions } from './upkeep/heartbeat.ts';
import { ProviderPump } from './upkeep/provider-pump.ts';
import { openWatchdog } from './watchdog/watchdog.ts';
import { WorkerService, type JobTaker } from './worker-service.ts';

/** How long a start waits for the orphans of killed workers to be ended. */
const ORPHANS_MS = 3000;

/** Runs agents: takes tickets, claims their tasks, runs and settles them. */
export function createWorkerService(parts: Parts): Service {
  const { config, log, ledger } = parts;
  // The ledger's short states have spaces as separators.
  const name = `${hostname().replaceAll(/\s/g, '-')}-${process.pid}-${randomBytes(2).toString('hex')}`;
  const fleet = { redis: parts.redis, keys: parts.keys, settings: config.settings };
  const capacity = capacityOf(parts);
  parts.offeredSlots.addOwn(capacity);
  const promoter = new DuePromoter({ ledger, log });
  const permits = openPermits(parts, name);
  const draining = new AbortController();
  const endOrphaned = (): Promise<void> => endOrphans(parts, draining.signal);
  const onNotice = (notice: FleetNotice): void => {
    void publishFleetEvent(fleet, notice);
    if (notice.event === 'worker.lost') void endOrphaned();
  };
  const onWaiting = (): void => promoter.wake();
  const { executor: shared, keeper, listen } = openExecutor(parts, { worker: name, onWaiting, isDraining: () => draining.signal.aborted });
  const pool = openPool(parts, { worker: name, onWaiting, onLost: endOrphaned });
  const executor: ExecuteTicketParts = {
    ...shared,
    isolation: () => (pool.hasRoom ? 'offered' : 'full'),
    runIsolated: (ticket, how, losses) => pool.run(ticket, how, losses),
  };
  return new WorkerService({
    name,
    check: async () => {
      await assertAgents(config);
      // Goes on beside the start where Redis comes later.
      await within(endOrphaned(), ORPHANS_MS);
    },
    keeper,
    pool,
    promoter,
    watchdog: openWatchdog(parts, name),
    heartbeat: new Heartbeat({ fleet, worker: name, capacity, clock: systemClock, log }),
    watch: new WorkerWatch({ ...fleet, queues: parts.queues, onNotice, log }),
    reclaimer: new Reclaimer({ ...parts, onLost: (worker) => onNotice({ event: 'worker.lost', worker }) }),
    sharer: new FleetSharer(parts),
    pump: new ProviderPump({ ledger, worker: name, throttle: parts.throttle, log }),
    permits,
    openSource: () => openJobSource(parts, 'worker'),
    openTakers: (source) => [
      ...openTicketWorkers(parts, { executor, permits, source }),
      ...openChores(parts, source),
      ...openFollowUps(parts, source, shared.schedules),
    ],
    listen,
    onDrain: () => {
      draining.abort();
    },
    onDrained: parts.finish,
    publish: (event) => publishFleetEvent(fleet, { event, worker: name }),
    clock: systemClock,
    log,
  });
}

interface PoolOptions {
  worker: string;
  onWaiting: () => void;
  /** Called after a process of the pool was lost. */
  onLost: () => Promise<void>;
}

function openPool(parts: Parts, { worker, onWaiting, onLost }: PoolOptions): IsolationPool {
  const { config, ledger, log } = parts;
  const names = secretVariables(config.settings.agents);
  const secrets = names.flatMap((name) => [config.readVariable(name)].flatMap((value) => (value === undefined ? [] : [[name, value]])));
  const variables = { ...Object.fromEntries(secrets), REDIS_URL: config.env.REDIS_URL };
  const heapMb = config.settings.worker.isolatedHeapMb;
  return new IsolationPool({
    settings: config.settings,
    open: (number) => new IsolatedProcess({ worker: isolatedName(worker, number), variables, heapMb, onWaiting, log }),
    expire: async ({ tenant, task: id }, lost) => {
      const state = await readState(ledger, tenant, id);
      // Else it was settled or expired before the process ended.
      if (state?.status !== 'running' || state.worker !== lost.worker) return false;
      const attempt = { tenant, id, token: state.token, lane: state.lane ?? null };
      const route = await routeOfLoss(parts, tenant, state);
      await expireAttempt(ledger, attempt, { ...lost, ...route, before: state, isGone: true });
      onWaiting();
      await onLost();
      return true;
    },
    log,
  });
}

/** Ends what commands of a worker that was killed on this system may have left; waits while Redis is away. Never rejects. */
async function endOrphans({ config, fleetId, log }: Parts, signal: AbortSignal): Promise<void> {
  try {
    const ended = await endOrphanedCommands(await fleetId.read(signal), config.settings.commands.folder);
    if (ended > 0)
      log.warn({ event: 'command.orphans-ended', processes: ended }, 'ended processes that commands of a killed worker had left');
  } catch (error) {
    log.debug({ err: error }, 'the processes of killed workers are left to another worker');
  }
}

function openPermits(parts: Parts, worker: string): FleetPermits {
  const { config, keys, redis, log } = parts;
  const policy = planSlots(config.settings, config.env.MUSTER_QUEUES);
  const subscribe: FleetPermitsOptions['subscribe'] = (channels, onMessage) => parts.subscribe('worker-permits', channels, onMessage);
  return new FleetPermits({
    fleet: { redis, keys, settings: config.settings, fleetLimits: () => parts.fleetLimits.current() },
    worker,
    policy,
    subscribe,
    clock: systemClock,
    log,
  });
}

/** What its record says that it serves: its slots are those for tickets. */
function capacityOf({ config }: Parts): HeartbeatOptions['capacity'] {
  const all = slotsOf(config.settings, config.env.MUSTER_QUEUES);
  const { slots } = planSlots(config.settings, config.env.MUSTER_QUEUES);
  return { queues: [...all].flatMap(([queue, count]) => (count > 0 ? [queue] : [])), slots };
}

interface Taking {
  executor: ExecuteTicketParts;
  permits: FleetPermits;
  source: JobSource;
}

/** One for each queue it serves and each shard. */
function openTicketWorkers(parts: Parts, { executor, permits, source }: Taking): JobTaker[] {
  const { config, keys, redis, queues, log } = parts;
  const { slots, weights } = planSlots(config.settings, config.env.MUSTER_QUEUES);
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const acknowledge = async (shard: number, entry: string): Promise<void> => {
    try {
      await redis.zrem(keys.shard(shard).outbox, entry);
    } catch (error) {
      log.debug({ err: error }, 'an outbox entry stays; its ticket is added twice');
    }
  };
  return shards.flatMap((shard) =>
    [...weights.keys()].map(
      (queue) =>
        new TicketWorker({
          source,
          shard,
          queue,
          slots,
          permits: permitsFor(queue, { pool: permits.pool, tickets: queues.get(shard, queue) }),
          ready: openReady(parts, shard, queue),
          handle: (ticket, how) => executeTicket(executor, ticket, how),
          onReturned: (id, { tenant }) => acknowledge(shard, outboxEntry(tenant, [parseTicketId(id)])),
        }),
    ),
  );
}

/** What free slots take without BullMQ; undefined for a queue whose tickets BullMQ counts for its limiter. */
function openReady({ config, ledger, queues, relay, log }: Parts, shard: number, name: TaskQueue): ReadyTickets | undefined {
  const { dispatch, queues: settings } = config.settings;
  if (!dispatch.direct || settings[name]?.limiter) return undefined;
  return new ReadyTickets({ ledger, shard, name, queue: queues.get(shard, name), relay, log });
}
