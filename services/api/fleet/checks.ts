import { z } from 'zod';
import { checkRedis, type CheckPorts, type CheckResult } from '#shared/doctor/index.ts';
import type { Settings } from '#shared/config/index.ts';
import type { Route } from '#shared/http/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { fleetRoute } from './fleet-owner.ts';
import { onePageSchema } from '../lists.ts';

interface CheckRoutePorts extends Omit<CheckPorts, 'settings'> {
  readonly config: { readonly settings: Settings };
}

const checkSchema = z
  .strictObject({
    name: z.string().meta({ description: 'What was checked.' }),
    state: z.enum(['ok', 'warn', 'fail', 'skip']).meta({
      description: '`warn`: it works with a weaker promise; `fail`: the fleet may lose work; `skip`: it could not be checked.',
    }),
    detail: z.string().meta({ description: 'The finding and its remedy, for people.' }),
  })
  .meta({ id: 'Check', examples: [{ name: 'Redis maxmemory-policy', state: 'ok', detail: 'noeviction' }] });

const listSchema = z
  .strictObject({
    items: z.array(checkSchema).meta({ description: 'In a fixed order.' }),
    checkedAt: z.iso.datetime().meta({ description: 'When these checks ended.' }),
    nextCursor: onePageSchema,
  })
  .meta({ id: 'CheckList' });

/** A call reads at most so much of each tenant and kind, so that it ends while a page waits for it. */
const SCOPE = { maxRead: 2000, maxTenants: 100 };

interface Checked {
  items: CheckResult[];
  checkedAt: string;
}

/** `GET /v1/checks`: what `npx muster doctor` finds in Redis. Calls at the same time share one reading. */
export function getChecks({ redis, keys, queues, config: { settings } }: CheckRoutePorts): Route {
  let shared: Promise<Checked> | null = null;
  const check = async (): Promise<Checked> => {
    const items = await checkRedis({ redis, keys, queues, settings }, systemClock, SCOPE);
    return { items, checkedAt: new Date(systemClock.now()).toISOString() };
  };
  return fleetRoute({
    method: 'get',
    path: '/v1/checks',
    operationId: 'listChecks',
    summary: 'What the fleet needs, and whether it has it',
    description: `The checks of \`npx muster doctor\` that need no terminal on the machine. Reads at most ${SCOPE.maxRead} records of each kind and of ${SCOPE.maxTenants} tenants.`,
    scope: 'admin',
    responses: { 200: listSchema },
    handle: async () => {
      shared ??= check().finally(() => (shared = null));
      return { status: 200, body: { ...(await shared), nextCursor: null } };
    },
  });
}
