import { type Call, route, type Route } from '#shared/http/index.ts';
import type { ScheduleParts } from '#shared/schedules/index.ts';
import { isFleetOwner } from '../fleet/fleet-owner.ts';
import { answerList, onePageOf } from '../lists.ts';
import { type AttentionPorts, type Item, itemSchema, LEVELS } from './attention-item.ts';
import { attentionOfFleet } from './attention-of-fleet.ts';
import { attentionOfTenant } from './attention-of-tenant.ts';

const MAX_ITEMS = 100;

/** `GET /v1/attention`: what a person should look at now. */
export function getAttention(ports: AttentionPorts, scheduling: ScheduleParts): Route {
  return route({
    method: 'get',
    path: '/v1/attention',
    operationId: 'listAttention',
    summary: 'What needs attention now',
    description: `At most ${MAX_ITEMS}, the worst first. Workers, queues and the load of the fleet are there for keys of the tenant \`default\`.`,
    scope: 'read',
    responses: { 200: onePageOf(itemSchema, 'Critical ones first.').meta({ id: 'AttentionList' }) },
    handle: async (_input, call) => answerList(await findAttention(ports, scheduling, call)),
  });
}

async function findAttention(ports: AttentionPorts, scheduling: ScheduleParts, call: Call): Promise<Item[]> {
  const found = await Promise.all([
    ...(isFleetOwner(call) ? attentionOfFleet(ports) : []),
    ...attentionOfTenant(ports, scheduling, call.tenant),
  ]);
  return found
    .flat()
    .toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level))
    .slice(0, MAX_ITEMS);
}
