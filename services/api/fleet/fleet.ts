import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { listWorkers, readSnapshots, readWorker, type RegistryPorts, requestDrain, type WorkerRecord } from '#shared/queue/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { assertFleetOwner, FLEET_OWNERS } from './fleet-owner.ts';
import { fleetViewSchema, viewSnapshot, viewWorker, workerViewSchema } from './fleet-view.ts';

export interface FleetPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
}

/** `/v1/fleet`: the workers, what they do, and draining them. */
export function fleetRoutes({ redis, keys, config }: FleetPorts): Route[] {
  const registry = { redis, keys, settings: config.settings };
  return [getFleet(registry), getWorker(registry), postDrain(registry)];
}

/** `GET /v1/fleet`. */
function getFleet(registry: RegistryPorts): Route {
  return route({
    method: 'get',
    path: '/v1/fleet',
    operationId: 'getFleet',
    summary: 'The workers of the fleet, what they do, and snapshots of their machines',
    description: FLEET_OWNERS,
    scope: 'read',
    responses: { 200: fleetViewSchema },
    handle: async (_input, call) => {
      assertFleetOwner(call);
      const [workers, snapshots] = await Promise.all([listWorkers(registry), readSnapshots(registry)]);
      const body = { workers: workers.map(viewWorker), daemons: [], hubs: [], snapshots: snapshots.map(viewSnapshot) };
      return { status: 200, body };
    },
  });
}

const pathSchema = z.object({ id: z.string().max(300).meta({ description: 'The `id` of the worker.' }) });

/** `GET /v1/fleet/:id`. */
function getWorker(registry: RegistryPorts): Route {
  return route({
    method: 'get',
    path: '/v1/fleet/:id',
    operationId: 'getWorker',
    summary: 'One worker',
    description: FLEET_OWNERS,
    scope: 'read',
    request: { params: pathSchema },
    responses: { 200: workerViewSchema },
    handle: async ({ params: { id } }, call) => {
      assertFleetOwner(call);
      return { status: 200, body: viewWorker(found(await readWorker(registry, id), id)) };
    },
  });
}

/** `POST /v1/fleet/:id/drain`. */
function postDrain(registry: RegistryPorts): Route {
  return route({
    method: 'post',
    path: '/v1/fleet/:id/drain',
    operationId: 'drainWorker',
    summary: 'Let a worker take nothing more and end once its work has',
    description: `${FLEET_OWNERS} It obeys at once, or at its next heartbeat. Running tasks end, however long they take; then its process ends with 0. In one process with other services only its worker stops.`,
    scope: 'operate',
    request: { params: pathSchema },
    responses: { 202: workerViewSchema },
    handle: async ({ params: { id } }, call) => {
      assertFleetOwner(call);
      const worker = found(await requestDrain(registry, id), id);
      call.log.info({ event: 'worker.drain-requested', worker: id, by: call.key?.id }, `The drain of the worker ${id} was requested`);
      return { status: 202, body: viewWorker(worker) };
    },
  });
}

function found(worker: WorkerRecord | null, id: string): WorkerRecord {
  if (worker === null) throw new MusterError('worker.not-found', 'There is no such worker', { details: { worker: id } });
  return worker;
}
