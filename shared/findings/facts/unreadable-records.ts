import { apiAgentDefinitionSchema } from '../../config/index.ts';
import { deliverySchema } from '../../deliveries/index.ts';
import { parseKnownState } from '../../ledger/index.ts';
import type { RegistryPorts } from '../../queue/index.ts';
import { readRecords, type RedisClient, scanHash, scanKeys, type TenantKeys } from '../../redis/index.ts';
import { parseSchedule } from '../../schedules/index.ts';
import { apiKeySchema, DEFAULT_TENANT, publicTenantId, tenantSchema } from '../../tenants/index.ts';

/** How far records are checked. */
export interface RecordScope {
  /** The bound of records per tenant and kind, because a person waits for the answer. */
  readonly maxRead: number;
  /** Tenants whose records are checked; by default all. */
  readonly maxTenants?: number;
  /** Reads a stored hook, and throws when it cannot. Without it hooks are not checked. */
  readonly readHook?: (text: string) => unknown;
}

/** Records of each kind that this version cannot read. */
export interface UnreadableRecords {
  /** Each in words. */
  found: string[];
  /** Tenants whose records were read, of all. */
  tenants: number;
  allTenants: number;
}

export async function readUnreadable({ redis, keys }: RegistryPorts, scope: RecordScope): Promise<UnreadableRecords> {
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
  return { found, tenants: checked.length, allTenants: all.length };
}

type Note = (what: string, records: { unreadable: { id: string }[] }) => void;

async function checkTenantRecords(redis: RedisClient, own: TenantKeys, { maxRead, readHook }: RecordScope, note: Note): Promise<void> {
  const hashes: (readonly [what: string, key: string, read: (text: string) => unknown])[] = [
    ['task', own.states, (text) => parseKnownState(text)],
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
