import { parseReadyTicket } from '#shared/ledger/grants/tickets.ts';
import type { FleetOrder } from '#shared/ledger/order/fleet-order.ts';
import type { Standing } from '#shared/ledger/order/level.ts';
import type { Gated } from '#shared/ledger/order/gated-task.ts';
import type { SlotPool } from '#shared/ledger/claim/claim-for-slots.ts';
import type { TestLedger } from '../support/test-ledger.ts';
import { TENANTS } from './steps.ts';

/** What the lookups and lines of the ledger have that the specification has not, and the other way round, in words. */
export async function orderProblems(test: TestLedger, order: FleetOrder): Promise<string[]> {
  const [ready, ...lookups] = await Promise.all([
    test.redis.zrange(test.keys.shard(0).ready, '0', '-1'),
    ...TENANTS.map(async (tenant) => await test.redis.zrange(test.keys.tenant(tenant).live, '0', '-1')),
  ]);
  const standing = ready.map(parseReadyTicket).map(({ task, queue, priority }) => `${task} ${queue} ${priority}`);
  const wanted = order.slots.tasks.map(({ id, queue, priority }) => `${id} ${queue} ${priority}`);
  return [...differences(standing, wanted), ...TENANTS.flatMap((tenant, at) => tenantProblems(order, tenant, lookups[at] ?? []))];
}

function tenantProblems(order: FleetOrder, tenant: string, lookups: readonly string[]): string[] {
  const gates = order.gatesOf(tenant);
  const found = lookups.flatMap((member) => {
    const line = /^(?:waits=[^/]+|backlog|granted|passed)(?=[/=])/.exec(member)?.[0];
    return line === undefined ? [] : [`${member.slice(member.lastIndexOf('/') + 1).replace(/^.*\./, '')} ${line}`];
  });
  return [
    ...differences(
      found,
      gates.tasks.flatMap((gated) => standingOf(gated)),
    ),
    ...gates.idle().map((id) => `${id} waits, and none of its gates is closed`),
  ];
}

/** How the lookups list a task. */
function standingOf({ id, at, passedAt }: Gated): string[] {
  const line = { away: null, session: null, granted: 'granted', cap: 'backlog', lane: `waits=${'name' in at ? at.name : ''}` }[at.kind];
  return [...(line === null ? [] : [`${id} ${line}`]), ...(passedAt === null ? [] : [`${id} passed`])];
}

function differences(found: readonly string[], wanted: readonly string[]): string[] {
  const [has, should] = [new Set(found), new Set(wanted)];
  return [
    ...found.filter((each) => !should.has(each)).map((each) => `${each} is there and should not be`),
    ...wanted.filter((each) => !has.has(each)).map((each) => `${each} is missing`),
  ];
}

/** A task that started although a better one of its tenant, queue and range of priorities still stands, which the worker could have run. */
export function passedOver(worker: { pool: () => SlotPool }, before: readonly Standing[], started: readonly Standing[]): string[] {
  const { foreign, highFrom, lowTo } = worker.pool();
  const rangeOf = ({ priority }: Standing): number => (priority >= highFrom ? 2 : Number(priority > lowTo));
  const left = before.filter((task) => !started.some(({ id }) => id === task.id) && !foreign.includes(`,${task.agent},`));
  return started.flatMap((task) => {
    // It may have a slot that is kept for those who wait.
    if (task.awaitedBy !== undefined) return [];
    const comparable = left.filter(
      (other) =>
        other.tenant === task.tenant && other.queue === task.queue && (task.queue === 'critical' || rangeOf(other) === rangeOf(task)),
    );
    const better = comparable.filter(
      (other) =>
        other.priority > task.priority ||
        (other.priority === task.priority && (other.from < task.from || (other.from === task.from && other.id < task.id))),
    );
    return better.map((other) => `${task.id} started before ${other.id}`);
  });
}
