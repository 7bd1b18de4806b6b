import { apiAgentDefinitionSchema } from '../config/index.ts';
import { deliverySchema, readUnfollowedEnds, readWaitingDeliveries } from '../deliveries/index.ts';
import { isShort, parseFullState, parseShort } from '../ledger/index.ts';
import { readRecords, type RedisClient, scanHash, scanKeys, redisNow, type TenantKeys } from '../redis/index.ts';
import { parseSchedule } from '../schedules/index.ts';
import { apiKeySchema, DEFAULT_TENANT, publicTenantId, tenantSchema } from '../tenants/index.ts';
import type { CheckResult, CheckPorts } from './check.ts';

/** How far records are checked. */
export interface RecordScope {
  /** The bound of records per tenant and kind, because a person waits for the answer. */
  readonly maxRead: number;
  /** Tenants whose records are checked; by default all. */
  readonly maxTenants?: number;
  /** Reads a stored hook, and throws when it cannot. Without it hooks are not checked. */
  readonly readHook?: (text: string) => unknown;
}

const SHOWN = 5;

/** Finds records of each kind that this version cannot read. */
export async function checkRecords({ redis, keys }: CheckPorts, scope: RecordScope): Promise<CheckResult> {
  const name = 'Records';
  const { fleet } = keys;
  const found: string[] = [];
  const note = (what: string, { unreadable }: { unreadable: { id: string }[] }): void => {
    found.push(...unreadable.map(({ id }) => `${what} ${id}`));
  };
  const tenants = readRecords(Object.entries(await redis.hgetall(fleet.tenants)), (text) => tenantSchema.parse(JSON.parse(text)));
  note('tenant', tenants);
  for await (const page of hashPages(redis, fleet.apiKeys, scope.maxRead)) {
    note(
      'API key with the digest',
      readRecords(page, (text) => apiKeySchema.parse(JSON.parse(text))),
    );
  }
  const all = [DEFAULT_TENANT, ...tenants.items.map(({ id }) => id).filter((id) => id !== DEFAULT_TENANT)];
  const checked = all.slice(0, scope.maxTenants);
  for (const tenant of checked) {
    const noteOfTenant: Note = (what, records) => note(`${what} of tenant ${publicTenantId(tenant)}`, records);
    await checkTenantRecords(redis, keys.tenant(tenant), scope, noteOfTenant);
  }
  const ofAll = checked.length < all.length ? `, of ${checked.length} of ${all.length} tenants` : '';
  if (found.length === 0) return { name, state: 'ok', detail: `all checked records can be read${ofAll}` };
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  return {
    name,
    state: 'warn',
    detail: `${found.slice(0, SHOWN).join('; ')}${more}: another release wrote them; run that one, or remove them`,
  };
}

type Note = (what: string, records: { unreadable: { id: string }[] }) => void;

async function checkTenantRecords(redis: RedisClient, own: TenantKeys, { maxRead, readHook }: RecordScope, note: Note): Promise<void> {
  const hashes: (readonly [what: string, key: string, read: (text: string) => unknown])[] = [
    ['task', own.states, (text) => (isShort(text) ? parseShort(text) : parseFullState(text))],
    ['schedule', own.schedules, (text) => parseSchedule(text)],
    ['agent', own.agents, (text) => apiAgentDefinitionSchema.parse(JSON.parse(text))],
    ...(readHook === undefined ? [] : [['hook', own.hooks, readHook] as const]),
  ];
  for (const [what, key, read] of hashes) {
    for await (const page of hashPages(redis, key, maxRead)) note(what, readRecords(page, read));
  }
  let seen = 0;
  for await (const page of scanKeys(redis, own.delivery('*'))) {
    const texts = await redis.mget(...page);
    const stored = page.map((key, position) => [key.slice(own.delivery('').length), texts[position] ?? ''] as const);
    note(
      'delivery',
      readRecords(
        stored.filter(([, text]) => text !== ''),
        (text) => deliverySchema.parse(JSON.parse(text)),
      ),
    );
    if ((seen += page.length) >= maxRead) return;
  }
}

async function* hashPages(redis: RedisClient, key: string, maxRead: number): AsyncGenerator<[field: string, value: string][]> {
  let seen = 0;
  for await (const page of scanHash(redis, key)) {
    yield page;
    if ((seen += page.length) >= maxRead) return;
  }
}

/** A worker follows the end of a task within a few seconds. */
const LATE_MS = 60_000;

const CONSUMERS = { deliveries: 'a worker', replies: 'the service chat with the platform’s secrets' } as const;

/** Checks whether results are delivered: ended tasks are followed, and each kind of delivery has a process for it. */
export async function checkOutbound({ redis, keys, queues }: CheckPorts): Promise<CheckResult[]> {
  const now = await redisNow(redis);
  const late = (await readUnfollowedEnds({ redis, keys })).filter(({ oldestAt }) => oldestAt !== null && now - oldestAt > LATE_MS);
  const stuck = (await readWaitingDeliveries(queues)).filter(({ waiting, takers }) => waiting > 0 && takers === 0);
  const name = 'Results going out';
  if (late.length === 0 && stuck.length === 0) return [{ name, state: 'ok', detail: 'nothing waits for a missing process' }];
  return [
    ...late.map(({ kind, count, oldestAt }): CheckResult => {
      const minutes = Math.round((now - (oldestAt ?? now)) / 60_000);
      return { name, state: 'warn', detail: `${count} ends of kind ${kind} are not followed for ${minutes} min: start a worker` };
    }),
    ...stuck.map(({ queue, waiting }): CheckResult => ({
      name,
      state: 'warn',
      detail: `${waiting} ${queue} wait without a consumer: start ${CONSUMERS[queue]}`,
    })),
  ];
}
