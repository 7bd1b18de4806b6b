import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import {
  changeDaemon,
  createDaemon,
  type Daemon,
  listDaemonRecords,
  readDaemon,
  readLastStates,
  removeDaemon,
  rotateDaemonToken,
} from '#shared/daemons/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Call, type Route } from '#shared/http/index.ts';
import { type Keys, type RedisClient, redisNow } from '#shared/redis/index.ts';
import { daemonListSchema, daemonPatchSchema, daemonViewSchema, newDaemonSchema, newDaemonViewSchema, viewDaemon } from './daemon-view.ts';
import { answerList } from '../lists.ts';

export interface DaemonRoutePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
}

/** `/v1/daemons`: the daemons that a tenant registered. */
export function daemonRoutes(ports: DaemonRoutePorts): Route[] {
  return [postDaemon(ports), getDaemons(ports), getDaemon(ports), patchDaemon(ports), postRotation(ports), deleteDaemon(ports)];
}

type DaemonView = z.infer<typeof daemonViewSchema>;

const pathSchema = z.object({ id: z.string().max(100).meta({ description: "The daemon's id." }) });

/** `POST /v1/daemons`. The answer is the only time that the token is shown. */
function postDaemon(ports: DaemonRoutePorts): Route {
  return route({
    method: 'post',
    path: '/v1/daemons',
    operationId: 'createDaemon',
    summary: 'Register a daemon',
    description: 'The token is shown this once; the daemon connects to `/hub` with it. What the daemon declares never exceeds this.',
    scope: 'operate',
    errors: ['daemon.name-taken', 'limit.daemons', 'limit.storage'],
    request: { body: newDaemonSchema },
    responses: { 201: newDaemonViewSchema },
    handle: async ({ body }, call) => {
      const { maxDaemonsPerTenant } = ports.config.settings.hub;
      assertSlots(ports, body.slots);
      const { daemon, token } = await createDaemon(ports, { ...body, tenant: call.tenant }, maxDaemonsPerTenant);
      logChange(call, 'daemon.registered', daemon, 'A daemon was registered');
      return { status: 201, body: { ...(await view(ports, daemon)), token } };
    },
  });
}

/** `GET /v1/daemons`, by name. */
function getDaemons(ports: DaemonRoutePorts): Route {
  return route({
    method: 'get',
    path: '/v1/daemons',
    operationId: 'listDaemons',
    summary: 'The registered daemons, and what they do',
    scope: 'read',
    responses: { 200: daemonListSchema },
    handle: async (_input, { tenant }) => {
      const { items, unreadable } = await listDaemonRecords(ports, tenant);
      const ids = items.map(({ id }) => id);
      const [last, now] = await Promise.all([readLastStates(ports, tenant, ids), redisNow(ports.redis)]);
      const views = items.map((daemon, position) => viewDaemon(daemon, last[position] ?? null, now));
      return answerList(views, { unreadable });
    },
  });
}

/** `GET /v1/daemons/:id`. */
function getDaemon(ports: DaemonRoutePorts): Route {
  return route({
    method: 'get',
    path: '/v1/daemons/:id',
    operationId: 'getDaemon',
    summary: 'Read a daemon',
    scope: 'read',
    errors: ['daemon.not-found'],
    request: { params: pathSchema },
    responses: { 200: daemonViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const daemon = await readDaemon(ports, { tenant, id });
      return { status: 200, body: await view(ports, found(daemon, id)) };
    },
  });
}

/** `PATCH /v1/daemons/:id`. The hub that holds its connection follows at once. */
function patchDaemon(ports: DaemonRoutePorts): Route {
  return route({
    method: 'patch',
    path: '/v1/daemons/:id',
    operationId: 'changeDaemon',
    summary: 'Change, disable or enable a daemon',
    description: 'What is not named stays. Disabling closes its connection (4401); narrower capabilities hold for the next task.',
    scope: 'operate',
    errors: ['daemon.not-found', 'daemon.name-taken', 'daemon.busy'],
    request: { params: pathSchema, body: daemonPatchSchema },
    responses: { 200: daemonViewSchema },
    handle: async ({ params: { id }, body }, call) => {
      assertSlots(ports, body.slots);
      const daemon = found(await changeDaemon(ports, { tenant: call.tenant, id }, body), id);
      logChange(call, 'daemon.changed', daemon, 'A daemon was changed');
      return { status: 200, body: await view(ports, daemon) };
    },
  });
}

/** Throws `request.invalid` for more slots than a daemon may have here. */
function assertSlots({ config }: DaemonRoutePorts, slots: number | null | undefined): void {
  const max = config.settings.hub.maxSlotsPerDaemon;
  if (slots === undefined || slots === null || slots <= max) return;
  throw new MusterError('request.invalid', `slots: expected at most ${max} (hub.maxSlotsPerDaemon), got ${slots}`, {
    details: { maxSlotsPerDaemon: max },
  });
}

/** `POST /v1/daemons/:id/rotate`. */
function postRotation(ports: DaemonRoutePorts): Route {
  return route({
    method: 'post',
    path: '/v1/daemons/:id/rotate',
    operationId: 'rotateDaemonToken',
    summary: 'Give a daemon another token',
    description: 'The token is shown this once. The former one opens nothing any more, and its connection is closed (4401).',
    scope: 'operate',
    errors: ['daemon.not-found', 'daemon.busy'],
    request: { params: pathSchema },
    responses: { 200: newDaemonViewSchema },
    handle: async ({ params: { id } }, call) => {
      const rotated = await rotateDaemonToken(ports, { tenant: call.tenant, id });
      const daemon = found(rotated?.daemon ?? null, id);
      logChange(call, 'daemon.rotated', daemon, 'A daemon got another token');
      return { status: 200, body: { ...(await view(ports, daemon)), token: rotated?.token } };
    },
  });
}

/** `DELETE /v1/daemons/:id`. */
function deleteDaemon(ports: DaemonRoutePorts): Route {
  return route({
    method: 'delete',
    path: '/v1/daemons/:id',
    operationId: 'deleteDaemon',
    summary: 'Remove a daemon',
    description: 'Its token opens nothing any more, and its connection is closed (4401). Tasks that name it as their target fail.',
    scope: 'operate',
    errors: ['daemon.not-found'],
    request: { params: pathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, call) => {
      if (!(await removeDaemon(ports, { tenant: call.tenant, id }))) throw daemonNotFound(id);
      call.log.info({ event: 'daemon.removed', daemon: id, by: call.key?.id }, 'A daemon was removed');
      return { status: 204 };
    },
  });
}

function logChange(call: Call, event: string, { id, name, enabled }: Daemon, message: string): void {
  call.log.info({ event, daemon: id, name, enabled, by: call.key?.id }, message);
}

async function view(ports: DaemonRoutePorts, daemon: Daemon): Promise<DaemonView> {
  const [[last = null], now] = await Promise.all([readLastStates(ports, daemon.tenant, [daemon.id]), redisNow(ports.redis)]);
  return viewDaemon(daemon, last, now);
}

function found(daemon: Daemon | null, id: string): Daemon {
  if (daemon === null) throw daemonNotFound(id);
  return daemon;
}

/** `daemon.not-found`, 404. */
function daemonNotFound(id: string): MusterError {
  return new MusterError('daemon.not-found', 'There is no such daemon', { details: { daemon: id } });
}
