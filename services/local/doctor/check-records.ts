import { apiAgentDefinitionSchema } from '#shared/config/index.ts';
import { deliverySchema } from '#shared/deliveries/index.ts';
import { isShort, parseFullState, parseShort } from '#shared/ledger/index.ts';
import { type Keys, readRecords, type RedisClient, scanHash, scanKeys } from '#shared/redis/index.ts';
import { parseSchedule } from '#shared/schedules/index.ts';
import { apiKeySchema, DEFAULT_TENANT, publicTenantId, tenantSchema } from '#shared/tenants/index.ts';
import { hookSchema } from '../../webhooks/hook.ts';
import type { Check } from './check.ts';

/** The bound of records per tenant and kind, because a person waits for the answer. */
const MAX_READ = 50_000;
const SHOWN = 5;

/** Finds records of each kind that this version cannot read. */
export async function checkRecords(redis: RedisClient, keys: Keys): Promise<Check> {
  const name = 'Records';
  const { fleet } = keys;
  const found: string[] = [];
  const note = (what: string, { unreadable }: { unreadable: { id: string }[] }): void => {
    found.push(...unreadable.map(({ id }) => `${what} ${id}`));
  };
  const tenants = readRecords(Object.entries(await redis.hgetall(fleet.tenants)), (text) => tenantSchema.parse(JSON.parse(text)));
  note('tenant', tenants);
  for await (const page of hashPages(redis, fleet.apiKeys)) {
    note(
      'API key with the digest',
      readRecords(page, (text) => apiKeySchema.parse(JSON.parse(text))),
    );
  }
  for (const tenant of [DEFAULT_TENANT, ...tenants.items.map(({ id }) => id).filter((id) => id !== DEFAULT_TENANT)]) {
    await checkTenantRecords(redis, keys, tenant, (what, records) => note(`${what} of tenant ${publicTenantId(tenant)}`, records));
  }
  if (found.length === 0) return { name, state: 'ok', detail: 'all checked records can be read' };
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  return {
    name,
    state: 'warn',
    detail: `${found.slice(0, SHOWN).join('; ')}${more}: another release wrote them; run that one, or remove them`,
  };
}

type Note = (what: string, records: { unreadable: { id: string }[] }) => void;

async function checkTenantRecords(redis: RedisClient, keys: Keys, tenant: string, note: Note): Promise<void> {
  const own = keys.tenant(tenant);
  const hashes: [what: string, key: string, read: (text: string) => unknown][] = [
    ['task', own.states, (text) => (isShort(text) ? parseShort(text) : parseFullState(text))],
    ['schedule', own.schedules, (text) => parseSchedule(text)],
    ['agent', own.agents, (text) => apiAgentDefinitionSchema.parse(JSON.parse(text))],
    ['hook', own.hooks, (text) => hookSchema.parse(JSON.parse(text))],
  ];
  for (const [what, key, read] of hashes) {
    for await (const page of hashPages(redis, key)) note(what, readRecords(page, read));
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
    if ((seen += page.length) >= MAX_READ) return;
  }
}

async function* hashPages(redis: RedisClient, key: string): AsyncGenerator<[field: string, value: string][]> {
  let seen = 0;
  for await (const page of scanHash(redis, key)) {
    yield page;
    if ((seen += page.length) >= MAX_READ) return;
  }
}
