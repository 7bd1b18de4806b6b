import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { assertAgents, describeCgroups } from '#shared/agents/index.ts';
import { releaseName } from '#shared/config/index.ts';
import { publishFleetEvent } from '#shared/events/index.ts';
import { executeTicket, type ExecuteTicketParts } from '#shared/execution/index.ts';
import { type Parts, type Service, openExecutor, openSlotWorker } from '#shared/lifecycle/index.ts';
import {
  type FleetNotice,
  type HandleTicket,
  Heartbeat,
  type HeartbeatOptions,
  openJobSource,
  planSlots,
  slotsOf,
} from '#shared/queue/index.ts';
import { workerName } from '#shared/tasks/index.ts';
import { systemClock, within } from '#shared/time/index.ts';
import { openCallbacks } from './callbacks.ts';
import { Reclaimer } from './chores/reclaimer.ts';
import { openChores } from './chores/open-chores.ts';
import { orphanEnder } from './end-orphans.ts';
import { openPool } from './isolation/open-pool.ts';
import { openRemote } from './remote/open-remote.ts';
import { openWatchdog } from './watchdog/watchdog.ts';
import { DeletionCost, type DeletionCostOptions } from './scale-in/deletion-cost.ts';
import { openPod } from './scale-in/kubernetes-pod.ts';
import { WorkerService } from './worker-service.ts';

/** How long a start waits for the orphans of killed workers to be ended. */
const ORPHANS_MS = 3000;

/** A service that can let all that runs end, without a deadline. */
export type DrainableService = Service & Pick<WorkerService, 'drain'>;

/** Runs agents: claims tasks, runs and settles them. */
export function createWorkerService(parts: Parts): DrainableService {
  const { config, log } = parts;
  const random = randomBytes(2).toString('hex');
  const name = workerName({ host: hostname(), pid: process.pid, random, release: releaseName(config.env) });
  const fleet = { redis: parts.redis, keys: parts.keys, settings: config.settings };
  const capacity = capacityOf(parts);
  parts.offeredSlots.addOwn(capacity);
  const policy = planSlots(config.settings, config.env.MUSTER_QUEUES);
  const draining = new AbortController();
  const endOrphaned = orphanEnder(parts, draining.signal);
  const onNotice = (notice: FleetNotice): void => {
    void publishFleetEvent(fleet, notice);
    if (notice.event === 'worker.lost') void endOrphaned();
  };
  const onLost = (worker: string): void => onNotice({ event: 'worker.lost', worker });
  const onWaiting = (): void => chores.runner.wake('promote-due');
  const { executor: shared, keeper, listen } = openExecutor(parts, { worker: name, onWaiting, isDraining: () => draining.signal.aborted });
  const pool = openPool(parts, { worker: name, onWaiting, onLost: endOrphaned });
  const executor: ExecuteTicketParts = {
    ...shared,
    isolation: () => (pool.hasRoom ? 'offered' : 'full'),
    runIsolated: (ticket, how, losses) => pool.run(ticket, how, losses),
  };
  const remote = openRemote(parts, { worker: name, executor, policy });
  const reclaimer = new Reclaimer({ ...parts, onLost });
  const chores = openChores(parts, { worker: name, keeper, pool, reclaimer, schedules: shared.schedules, onNotice });
  const handle: HandleTicket = (ticket, how, queue) =>
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
    watchdog: openWatchdog(parts, name),
    heartbeat: new Heartbeat({ fleet, worker: name, capacity, clock: systemClock, log }),
    chores: chores.runner,
    openDeletionCost: (busy) => openDeletionCost(parts, busy),
    openSource: () => openJobSource(parts, 'worker'),
    openTakers: (source) => [
      openSlotWorker(parts, { worker: name, policy, handle, source, isolation: executor.isolation }),
      ...chores.openJobs(source),
      ...openCallbacks(parts, source),
    ],
    listen: (onDrain) => listen({ onDrain }),
    onDrain: () => draining.abort(),
    onDrained: parts.finish,
    publish: (event) => publishFleetEvent(fleet, { event, worker: name }),
    clock: systemClock,
    log,
  });
}

/** What its record says that it serves: its slots are those for tickets. */
function capacityOf({ config }: Parts): HeartbeatOptions['capacity'] {
  const all = slotsOf(config.settings, config.env.MUSTER_QUEUES);
  const { slots, weights } = planSlots(config.settings, config.env.MUSTER_QUEUES);
  return {
    group: config.env.MUSTER_WORKER_GROUP,
    queues: [...all].flatMap(([queue, count]) => (count > 0 ? [queue] : [])),
    slots,
    sure: Object.fromEntries(weights),
  };
}

/** Says once how programs are bounded, where the configuration has any. */
function logIsolation({ config, log }: Parts): void {
  const { agents, commands } = config.settings;
  if (!Object.values(agents).some(({ kind }) => kind === 'command')) return;
  log.info({ event: 'command.isolation' }, `the programs of commands ${describeCgroups(commands)}`);
}

/** Of a worker in a pod of Kubernetes that knows its name. */
function openDeletionCost({ config, log }: Parts, busy: DeletionCostOptions['busy']): DeletionCost | null {
  const write = openPod(config.env);
  return write && new DeletionCost({ write, busy, log });
}
