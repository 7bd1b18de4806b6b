import { z } from 'zod';
import { readKnownDaemons } from '#shared/daemons/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { listBusyWorkers, readBusyWorker, readSnapshots, requestDrain, type WorkerRecord } from '#shared/queue/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { fleetRoute, isFleetOwner } from './fleet-owner.ts';
import { fleetViewSchema, viewFleetDaemon, viewHub, viewSnapshot, viewWorker, workerViewSchema } from './fleet-view.ts';

export interface FleetPorts {
  readonly ledger: Ledger;
}

/** `/v1/fleet`: the workers, hubs and daemons, what they do, and draining them. */
export function fleetRoutes({ ledger }: FleetPorts): Route[] {
  return [getFleet(ledger), getWorker(ledger), postDrain(ledger)];
}

/** `GET /v1/fleet`. */
function getFleet(ledger: Ledger): Route {
  return route({
    method: 'get',
    path: '/v1/fleet',
    operationId: 'getFleet',
    summary: 'The workers, daemons and hubs of the fleet, what they do, and snapshots of their machines',
    description: 'All of it for keys of the tenant `default`; keys of other tenants see the daemons of their own.',
    scope: 'read',
    responses: { 200: fleetViewSchema },
    handle: async (_input, call) => ({
      status: 200,
      body: isFleetOwner(call) ? await readFleet(ledger) : await readOwn(ledger, call.tenant),
    }),
  });
}

type FleetView = z.infer<typeof fleetViewSchema>;

async function readFleet(ledger: Ledger): Promise<FleetView> {
  const [all, snapshots, { daemons, held }] = await Promise.all([listBusyWorkers(ledger), readSnapshots(ledger), readDaemons(ledger)]);
  const [hubs, workers] = [all.filter(({ role }) => role === 'hub'), all.filter(({ role }) => role === 'worker')];
  return {
    workers: workers.map(viewWorker),
    daemons,
    hubs: hubs.map((hub) => viewHub(hub, held.get(hub.id) ?? 0)),
    snapshots: snapshots.map(viewSnapshot),
  };
}

async function readOwn(ledger: Ledger, tenant: string): Promise<FleetView> {
  const { daemons } = await readDaemons(ledger, tenant);
  return { workers: [], daemons, hubs: [], snapshots: [] };
}

/** Connected ones first, then the last beat first; and how many each hub holds. */
async function readDaemons(
  { redis, keys, settings }: Ledger,
  tenant?: string,
): Promise<{ daemons: FleetView['daemons']; held: ReadonlyMap<string, number> }> {
  const [known, now] = await Promise.all([readKnownDaemons({ redis, keys }, tenant), redisNow(redis)]);
  const views = known.toSorted((one, other) => other.state.beatAt - one.state.beatAt).map((daemon) => viewFleetDaemon(daemon, now));
  const connected = views.filter(({ hub }) => hub !== null);
  const held = new Map([...Map.groupBy(connected, ({ hub }) => hub ?? '')].map(([hub, { length }]) => [hub, length]));
  const offline = views.filter(({ hub }) => hub === null);
  return { daemons: [...connected, ...offline].slice(0, settings.fleet.maxDaemons), held };
}

const pathSchema = z.object({ id: z.string().max(300).meta({ description: 'The `id` of the worker, or of a hub.' }) });

/** `GET /v1/fleet/:id`. */
function getWorker(ledger: Ledger): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/fleet/:id',
    operationId: 'getWorker',
    summary: 'One worker, or hub',
    scope: 'read',
    errors: ['worker.not-found'],
    request: { params: pathSchema },
    responses: { 200: workerViewSchema },
    handle: async ({ params: { id } }) => {
      return { status: 200, body: viewWorker(found(await readBusyWorker(ledger, id), id)) };
    },
  });
}

/** `POST /v1/fleet/:id/drain`. */
function postDrain(ledger: Ledger): Route {
  return fleetRoute({
    method: 'post',
    path: '/v1/fleet/:id/drain',
    operationId: 'drainWorker',
    summary: 'Let a worker, or a hub, take nothing more and end once its work has',
    description:
      'It obeys at once, or at its next heartbeat. Running tasks end, however long they take; then its process ends with 0. In one process with other services only its worker stops.',
    scope: 'operate',
    errors: ['worker.not-found'],
    request: { params: pathSchema },
    responses: { 202: workerViewSchema },
    handle: async ({ params: { id } }, call) => {
      const worker = found(await requestDrain(ledger, id), id);
      call.log.info({ event: 'worker.drain-requested', worker: id, by: call.key?.id }, `The drain of the worker ${id} was requested`);
      return { status: 202, body: viewWorker((await readBusyWorker(ledger, id)) ?? worker) };
    },
  });
}

function found(worker: WorkerRecord | null, id: string): WorkerRecord {
  if (worker === null) throw new MusterError('worker.not-found', 'There is no such worker', { details: { worker: id } });
  return worker;
}
