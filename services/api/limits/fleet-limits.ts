import { z } from 'zod';
import { fleetLimitsPatchSchema, fleetLimitsSchema } from '#shared/config/index.ts';
import { type FleetLimitsDirectory, patchFleetLimits, type TenantDirectory } from '#shared/tenants/index.ts';
import type { Route } from '#shared/http/index.ts';
import { countRunning, type Ledger } from '#shared/ledger/index.ts';
import { previewFleetLimits } from '#shared/actions/index.ts';
import { toIso } from '#shared/time/index.ts';
import { fleetRoute } from '../fleet/fleet-owner.ts';
import { previewSchema, viewPreview } from './preview-limits.ts';

interface FleetLimitPorts {
  readonly fleetLimits: FleetLimitsDirectory;
  readonly ledger: Ledger;
  readonly tenants: TenantDirectory;
}

/** `/v1/limits`: the limits of the fleet as a whole, changed while it runs. */
export function fleetLimitRoutes(ports: FleetLimitPorts): Route[] {
  return [getFleetLimits(ports), patchLimitsOfFleet(ports), deleteFleetLimits(ports), postFleetLimitsPreview(ports)];
}

const EXAMPLE = {
  maxConcurrent: 200,
  runningByClass: { proactive: 50 },
  runningLow: null,
  rates: { all: { perMinute: 500, perHour: 10_000, burst: 500 } },
};

const viewSchema = z
  .strictObject({
    limits: fleetLimitsSchema.meta({ description: 'The current limits.' }),
    configured: fleetLimitsSchema.meta({ description: 'The limits of the configuration, which hold unless they are changed here.' }),
    origin: z.enum(['config', 'api']).meta({ description: 'Where the current limits come from.' }),
    changedAt: z.iso.datetime().nullable().meta({ description: 'When they were changed here; null when they were not.' }),
    changedBy: z.string().nullable().meta({ description: 'Id of the key that changed them.' }),
    running: z.int().meta({ description: 'Attempts that run now.' }),
  })
  .meta({
    id: 'FleetLimitsView',
    examples: [
      {
        limits: EXAMPLE,
        configured: { maxConcurrent: 1000, runningByClass: {}, runningLow: null, rates: {} },
        origin: 'api',
        changedAt: '2026-05-01T09:00:00.000Z',
        changedBy: 'k_1',
        running: 12,
      },
    ],
  });

async function viewLimits({ fleetLimits, ledger }: FleetLimitPorts): Promise<z.infer<typeof viewSchema>> {
  const { stored, configured } = fleetLimits;
  const running = [...(await countRunning(ledger)).values()].reduce((total, count) => total + count, 0);
  return {
    limits: fleetLimits.current(),
    configured,
    origin: stored ? 'api' : 'config',
    changedAt: stored ? toIso(stored.changedAt) : null,
    changedBy: stored?.by ?? null,
    running,
  };
}

/** `GET /v1/limits`. */
function getFleetLimits(ports: FleetLimitPorts): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/limits',
    operationId: 'getFleetLimits',
    summary: 'The limits of the fleet',
    scope: 'read',
    responses: { 200: viewSchema },
    handle: async () => {
      await ports.fleetLimits.refresh();
      return { status: 200, body: await viewLimits(ports) };
    },
  });
}

/** `PATCH /v1/limits`. */
function patchLimitsOfFleet(ports: FleetLimitPorts): Route {
  return fleetRoute({
    method: 'patch',
    path: '/v1/limits',
    operationId: 'changeFleetLimits',
    summary: 'Change limits of the fleet',
    description:
      'What is not named stays, null takes a figure away. Holds everywhere within two seconds, and after restarts; what runs above a lowered limit runs on.',
    scope: 'admin',
    errors: ['limits.busy'],
    request: { body: fleetLimitsPatchSchema },
    responses: { 200: viewSchema },
    handle: async ({ body }, call) => {
      await ports.fleetLimits.change(body, call.key?.id ?? null);
      call.log.info({ event: 'limits.changed', limits: ports.fleetLimits.current(), by: call.key?.id }, "The fleet's limits were changed");
      return { status: 200, body: await viewLimits(ports) };
    },
  });
}

/** `DELETE /v1/limits`. */
function deleteFleetLimits(ports: FleetLimitPorts): Route {
  return fleetRoute({
    method: 'delete',
    path: '/v1/limits',
    operationId: 'resetFleetLimits',
    summary: 'Let the limits of the configuration hold again',
    scope: 'admin',
    errors: ['limits.busy'],
    responses: { 200: viewSchema },
    handle: async (_input, call) => {
      await ports.fleetLimits.reset();
      call.log.info({ event: 'limits.reset', by: call.key?.id }, "The fleet's limits are those of the configuration again");
      return { status: 200, body: await viewLimits(ports) };
    },
  });
}

const previewRequestSchema = z
  .strictObject({ limits: fleetLimitsPatchSchema.meta({ description: 'Replaces the current limits; what is not named stays.' }) })
  .meta({ id: 'FleetLimitsPreviewRequest', examples: [{ limits: { maxConcurrent: 5 } }] });

/** `POST /v1/limits/preview`: what limits of the fleet would have done to the tasks of the last day. Changes nothing. */
function postFleetLimitsPreview({ fleetLimits, ledger, tenants }: FleetLimitPorts): Route {
  return fleetRoute({
    method: 'post',
    path: '/v1/limits/preview',
    isCostly: true,
    operationId: 'previewFleetLimits',
    summary: 'What limits of the fleet would have done to the tasks of the last day',
    description: 'Changes nothing. Reads the newest tasks of all tenants, at most `limits.maxPreviewed`. Limits of tenants are left out.',
    scope: 'admin',
    audit: 'never',
    request: { body: previewRequestSchema },
    responses: { 200: previewSchema },
    handle: async ({ body }) => {
      const limits = patchFleetLimits(fleetLimits.current(), body.limits);
      return { status: 200, body: viewPreview(await previewFleetLimits(ledger, tenants.list(), limits, Date.now())) };
    },
  });
}
