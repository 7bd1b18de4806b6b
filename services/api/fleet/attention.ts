import { z } from 'zod';
import { bySeverity, type FindingList, type KeptFinding } from '#shared/findings/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { type Call, route, type Route } from '#shared/http/index.ts';
import { answerList, onePageOf } from '../lists.ts';
import { type Item, itemSchema, viewItem } from './attention-item.ts';
import { isFleetOwner } from './fleet-owner.ts';

const MAX_ITEMS = 100;

/** `/v1/attention`: what a person should look at now, and that somebody knows of it. */
export function attentionRoutes(list: FindingList): Route[] {
  return [getAttention(list), postAcknowledge(list)];
}

/** `GET /v1/attention`. */
function getAttention(list: FindingList): Route {
  return route({
    method: 'get',
    path: '/v1/attention',
    operationId: 'listAttention',
    summary: 'What needs attention now',
    description: `At most ${MAX_ITEMS}, the worst first, each until it is resolved or somebody acknowledges it. What is of the installation, as Redis, workers, queues and the load, is there for keys of the tenant \`default\`.`,
    scope: 'read',
    request: {
      query: z.strictObject({
        acknowledged: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: 'Whether those that somebody acknowledged are listed too.' }),
      }),
    },
    responses: { 200: onePageOf(itemSchema, 'Critical ones first.').meta({ id: 'AttentionList' }) },
    handle: async ({ query }, call) => {
      const found = await findAll(list, call);
      return answerList(found.filter(({ acknowledged }) => acknowledged === null || query.acknowledged === 'true').slice(0, MAX_ITEMS));
    },
  });
}

/** What is of the installation comes first; what it has of all tenants stands for the same of one. */
async function findAll(list: FindingList, call: Call): Promise<Item[]> {
  const [fleet, own] = await Promise.all([isFleetOwner(call) ? list.look(null) : { kept: [] }, list.look(call.tenant)]);
  const known = new Set(fleet.kept.map(({ id }) => id));
  const all = [...ofScope(fleet.kept, 'fleet'), ...ofScope(own.kept, 'tenant').filter(({ finding: { id } }) => !known.has(id))];
  return all.toSorted((one, other) => bySeverity(one.finding, other.finding)).map(({ finding, scope }) => viewItem(finding, scope));
}

function ofScope(kept: readonly KeptFinding[], scope: Item['scope']): { finding: KeptFinding; scope: Item['scope'] }[] {
  return kept.map((finding) => ({ finding, scope }));
}

/** `POST /v1/attention/:id/acknowledge`. */
function postAcknowledge(list: FindingList): Route {
  return route({
    method: 'post',
    path: '/v1/attention/:id/acknowledge',
    operationId: 'acknowledgeAttention',
    summary: 'Note that somebody knows of it',
    description:
      'It is listed no more unless it becomes worse, or is resolved and comes again. One of the installation needs a key of the tenant `default`.',
    scope: 'operate',
    errors: ['finding.not-found'],
    request: { params: z.object({ id: z.string().max(1000).meta({ description: 'Its `id` in `GET /v1/attention`.' }) }) },
    responses: { 200: itemSchema },
    handle: async ({ params: { id } }, call) => {
      const by = call.key?.id ?? null;
      const ofFleet = isFleetOwner(call) ? await list.acknowledge(null, id, by) : null;
      const finding = ofFleet ?? (await list.acknowledge(call.tenant, id, by));
      if (finding === null)
        throw new MusterError('finding.not-found', 'There is no such finding now', { details: { finding: id.slice(0, 200) } });
      call.log.info({ event: 'finding.acknowledged', finding: id, by }, finding.text);
      return { status: 200, body: viewItem(finding, ofFleet === null ? 'tenant' : 'fleet') };
    },
  });
}
