import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type HubSettings, releaseName } from '#shared/config/index.ts';
import { findDaemonByToken } from '#shared/daemons/index.ts';
import { publishDaemonEvent, publishFleetEvent } from '#shared/events/index.ts';
import { createRateLimit, createRouter } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { openDispatcher, openExecutor, openSlotWorker, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { Heartbeat, openJobSource, type SlotPolicy } from '#shared/queue/index.ts';
import { workerName } from '#shared/tasks/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { ConnectedDaemons, type ConnectedDaemonsOptions } from './connections/connected-daemons.ts';
import { openConnectionGate } from './connections/connection-gate.ts';
import { HubService } from './hub-service.ts';
import { plainRequestRoute, schemaRoute } from './hub-routes.ts';

/** Runs tasks on daemons: takes tickets of the queue `remote`, and hands each to a daemon that is connected to this hub or another. */
export function createHubService(parts: Parts): Service {
  const { config, log, redis, keys } = parts;
  const settings = config.settings.hub;
  const random = randomBytes(2).toString('hex');
  const name = workerName({ host: hostname(), role: 'hub', pid: process.pid, random, release: releaseName(config.env) });
  const fleet = { redis, keys, settings: config.settings };
  const capacity = { queues: ['remote'], slots: settings.slots };
  parts.offeredSlots.addOwn(capacity);
  const ledger = withLease(parts.ledger, settings);
  const draining = new AbortController();
  const { executor, keeper, listen } = openExecutor(
    { ...parts, ledger },
    {
      worker: name,
      // Workers promote what is due.
      onWaiting: () => undefined,
      isDraining: () => draining.signal.aborted,
    },
  );
  const subscribe: Parts['subscribe'] = (...channels) => parts.subscribe(...channels);
  const policy = slotPolicy(parts, settings);
  const notify = notifyOf(parts);
  const ofHub = { redis, keys, subscribe, log, hub: name, settings, clock: systemClock };
  const onAdopted: ConnectedDaemonsOptions['onAdopted'] = ({ tenant, id }) => dispatcher.noteAdopted({ tenant, task: id });
  const daemons = new ConnectedDaemons({ ...ofHub, executor, notify, onAdopted });
  const { directory, dispatcher } = openDispatcher(parts, { name, executor, local: daemons, keepsSlot: true });
  return new HubService({
    name,
    router: createRouter({ routes: [plainRequestRoute(), schemaRoute()], parts, log }),
    upgrade: openGate(parts, { daemons, isClosed: () => draining.signal.aborted }),
    daemons,
    dispatcher,
    directory,
    keeper,
    heartbeat: new Heartbeat({ fleet, worker: name, role: 'hub', capacity, clock: systemClock, log }),
    openSource: () => openJobSource(parts, 'hub'),
    openTakers: (source) => [
      openSlotWorker(parts, { worker: name, policy, handle: (ticket, how) => dispatcher.handle(ticket, how), source }),
    ],
    listen: (onDrain) => listen({ onDrain }),
    onDrain: () => draining.abort(),
    onDrained: parts.finish,
    publish: (event) => publishFleetEvent(fleet, { event, worker: name }),
    clock: systemClock,
    log,
  });
}

function openGate(
  parts: Parts,
  { daemons, isClosed }: { daemons: ConnectedDaemons; isClosed: () => boolean },
): ReturnType<typeof openConnectionGate> {
  const { config, redis, keys, log } = parts;
  return openConnectionGate({
    settings: config.settings.hub,
    findDaemon: (token) => findDaemonByToken(parts, token),
    // Counted together with the requests without a key.
    countAddress: createRateLimit({
      redis,
      prefix: `${keys.fleet.http}:address`,
      perMinute: config.settings.limits.httpAnonymousPerMinute,
    }),
    countDaemon: createRateLimit({ redis, prefix: `${keys.fleet.http}:daemon`, perMinute: config.settings.hub.connectsPerMinute }),
    isBehindProxy: config.env.MUSTER_TRUST_PROXY,
    held: () => daemons.held,
    isClosed,
    onConnection: (socket, daemon) => daemons.add(socket, daemon),
    log,
  });
}

function notifyOf({ redis, keys, config: { settings } }: Parts): ConnectedDaemonsOptions['notify'] {
  return (event, { tenant, id, name, user }) =>
    void publishDaemonEvent({ redis, keys, settings }, tenant, { event, daemon: id, name, user });
}

/** A lease lasts as long as a daemon may be away, so that its attempts outlive a hub that was killed. */
function withLease(ledger: Ledger, { graceMs }: HubSettings): Ledger {
  const { settings } = ledger;
  return { ...ledger, settings: { ...settings, worker: { ...settings.worker, leaseMs: graceMs } } };
}

function slotPolicy({ config }: Parts, { slots }: HubSettings): SlotPolicy {
  const { shares, lowAgeMs } = config.settings.worker;
  return { slots, reserved: 0, people: 0, weights: new Map([['remote', slots]]), shares, lowAgeMs };
}
