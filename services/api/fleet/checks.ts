import { z } from 'zod';
import { type CheckResult, type FindingList, viewChecks } from '#shared/findings/index.ts';
import type { Route } from '#shared/http/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { fleetRoute } from './fleet-owner.ts';
import { onePageSchema } from '../lists.ts';

const checkSchema = z
  .strictObject({
    id: z.string().optional().meta({ description: 'Of the finding, as in `GET /v1/attention`; absent where nothing was found.' }),
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

interface Checked {
  items: CheckResult[];
  checkedAt: string;
}

/** `GET /v1/checks`: the installation's list of findings in the form of `npx muster doctor`. Calls at the same time share one look. */
export function getChecks(list: FindingList): Route {
  let shared: Promise<Checked> | null = null;
  const check = async (): Promise<Checked> => {
    const { kept, inspected } = await list.look(null, 'deep');
    return { items: viewChecks(inspected, kept), checkedAt: new Date(systemClock.now()).toISOString() };
  };
  return fleetRoute({
    method: 'get',
    path: '/v1/checks',
    operationId: 'listChecks',
    summary: 'What the fleet needs, and whether it has it',
    description:
      'The checks of `npx muster doctor` that need no terminal on the machine: what `GET /v1/attention` has of the installation, acknowledged ones too, and what is well. Reads at most 2000 records of each kind and of 100 tenants.',
    scope: 'admin',
    responses: { 200: listSchema },
    handle: async () => {
      shared ??= check().finally(() => (shared = null));
      return { status: 200, body: { ...(await shared), nextCursor: null } };
    },
  });
}
