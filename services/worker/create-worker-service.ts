import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { assertAgents, describeCgroups, endOrphanedCommands } from '#shared/agents/index.ts';
import { releaseName } from '#shared/config/index.ts';
import { publishFleetEvent } from '#shared/events/index.ts';
import { executeTicket, type ExecuteTicketParts, type LeaseKeeper } from '#shared/execution/index.ts';
import {
  type Parts,
  type Service,
  idleOf,
  openExecutor,
  openPermits,
  openTicketWorkers,
  type TicketHandler,
} from '#shared/lifecycle/index.ts';
import {
  type FleetNotice,
  Heartbeat,
  type HeartbeatOptions,
  hasOtherWorker,
  isHeldForWorker,
  openJobSource,
  planSlots,
  slotsOf,
  WorkerWatch,
} from '#shared/queue/index.ts';
import { workerName } from '#shared/tasks/index.ts';
import { systemClock, Ticker, within } from '#shared/time/index.ts';
import { openChores } from './chores/open-chores.ts';
import type { IsolationPool } from './isolation/isolation-pool.ts';
import { openPool } from './isolation/open-pool.ts';
import { CancelSweep } from './upkeep/cancel-sweep.ts';
import { DuePromoter } from './upkeep/due-promoter.ts';
import { FleetSharer } from './upkeep/fleet-sharer.ts';
import { LostClaims } from './upkeep/lost-claims.ts';
import { openFollowUps } from './upkeep/follow-ups.ts';
import { ProviderPump } from './upkeep/provider-pump.ts';
import { Reclaimer } from './upkeep/reclaimer.ts';
import { openRemote } from './remote/open-remote.ts';
import { openWatchdog } from './watchdog/watchdog.ts';
import { WorkerService, type WorkerServiceOptions } from './worker-service.ts';

/** How long a start waits for the orphans of killed workers to be ended. */
const ORPHANS_MS = 3000;

/** A service that can let all that runs end, without a deadline. */
export type DrainableService = Service & Pick<WorkerService, 'drain'>;

/** Runs agents: takes tickets, claims their tasks, runs and settles them. */
export function createWorkerService(parts: Parts): DrainableService {
  const { config, log, ledger } = parts;
  const random = randomBytes(2).toString('hex');
  const name = workerName({ host: hostname(), pid: process.pid, random, release: releaseName(config.env) });
  const fleet = { redis: parts.redis, keys: parts.keys, settings: config.settings };
  const capacity = capacityOf(parts);
  parts.offeredSlots.addOwn(capacity);
  const promoter = new DuePromoter({ ledger, log });
  const policy = planSlots(config.settings, config.env.MUSTER_QUEUES);
  const permits = openPermits(parts, { worker: name, policy, keepMs: 0 });
  const draining = new AbortController();
  const endOrphaned = (): Promise<void> => endOrphans(parts, draining.signal);
  const onNotice = (notice: FleetNotice): void => {
    void publishFleetEvent(fleet, notice);
    if (notice.event === 'worker.lost') void endOrphaned();
  };
  const onLost = (worker: string): void => onNotice({ event: 'worker.lost', worker });
  const onWaiting = (): void => promoter.wake();
  const { executor: shared, keeper, listen } = openExecutor(parts, { worker: name, onWaiting, isDraining: () => draining.signal.aborted });
  const pool = openPool(parts, { worker: name, onWaiting, onLost: endOrphaned });
  const executor: ExecuteTicketParts = {
    ...shared,
    isolation: () => (pool.hasRoom ? 'offered' : 'full'),
    runIsolated: (ticket, how, losses) => pool.run(ticket, how, losses),
  };
  const remote = openRemote(parts, { worker: name, executor, policy, permits });
  const handle: TicketHandler = (ticket, how, queue) =>
    queue === 'remote' && remote ? remote.handle(ticket, how) : executeTicket(executor, ticket, how);
  return new WorkerService({
    name,
    remote,
    check: async () => {
      await assertAgents(config);
      logIsolation(parts);
      // Goes on beside the start where Redis comes later.
      await within(endOrphaned(), ORPHANS_MS);
    },
    keeper,
    pool,
    promoter,
    watchdog: openWatchdog(parts, name),
    heartbeat: new Heartbeat({ fleet, worker: name, capacity, clock: systemClock, log }),
    watch: new WorkerWatch({ ...fleet, queues: parts.queues, isHeld: (queue) => isHeldForWorker(parts, queue), onNotice, log }),
    reclaimer: new Reclaimer({ ...parts, onLost, idle: idleOf(parts, permits, policy) }),
    upkeep: [...openUpkeep(parts, name, keeper), expectSuspects(parts, name, pool)],
    permits,
    openSource: () => openJobSource(parts, 'worker'),
    openTakers: (source) => [
      ...openTicketWorkers(parts, { policy, handle, claimer: name, permits, source }),
      ...openChores(parts, source),
      ...openFollowUps(parts, source, shared.schedules),
    ],
    listen: (onDrain) => listen({ onDrain }),
    onDrain: () => draining.abort(),
    onDrained: parts.finish,
    publish: (event) => publishFleetEvent(fleet, { event, worker: name }),
    clock: systemClock,
    log,
  });
}

/** Its timers that need nothing else of it. */
function openUpkeep(parts: Parts, worker: string, keeper: LeaseKeeper): WorkerServiceOptions['upkeep'] {
  const { ledger, log, throttle } = parts;
  return [
    new FleetSharer(parts),
    new ProviderPump({ ledger, worker, throttle, log }),
    new CancelSweep(parts),
    new LostClaims({ ledger, keeper, worker, log }),
  ];
}

/** Keeps a process ready for suspects as long as the fleet has another worker whose tasks may be lost. */
function expectSuspects(parts: Parts, worker: string, pool: IsolationPool): WorkerServiceOptions['upkeep'][number] {
  const { redis, keys, log } = parts;
  const { settings } = parts.config;
  const ticker = new Ticker({
    everyMs: settings.worker.heartbeatIntervalMs,
    run: async () => pool.expect(await hasOtherWorker({ redis, keys, settings }, worker)),
    onError: (error) => log.debug({ err: error }, 'other workers cannot be read now'),
  });
  return {
    start: () => {
      ticker.start();
      ticker.tick();
    },
    stop: () => ticker.stop(),
  };
}

/** Ends what commands of a worker that was killed on this system may have left; waits while Redis is away. Never rejects. */
async function endOrphans({ config, fleetId, log }: Parts, signal: AbortSignal): Promise<void> {
  try {
    const ended = await endOrphanedCommands(await fleetId.read(signal), config.settings.commands);
    if (ended > 0)
      log.warn({ event: 'command.orphans-ended', processes: ended }, 'ended processes that commands of a killed worker had left');
  } catch (error) {
    log.debug({ err: error }, 'the processes of killed workers could not be ended; another worker on this machine retries');
  }
}

/** What its record says that it serves: its slots are those for tickets. */
function capacityOf({ config }: Parts): HeartbeatOptions['capacity'] {
  const all = slotsOf(config.settings, config.env.MUSTER_QUEUES);
  const { slots } = planSlots(config.settings, config.env.MUSTER_QUEUES);
  return { queues: [...all].flatMap(([queue, count]) => (count > 0 ? [queue] : [])), slots };
}

/** Says once how programs are bounded, where the configuration has any. */
function logIsolation({ config, log }: Parts): void {
  const { agents, commands } = config.settings;
  if (!Object.values(agents).some(({ kind }) => kind === 'command')) return;
  log.info({ event: 'command.isolation' }, `the programs of commands ${describeCgroups(commands)}`);
}
