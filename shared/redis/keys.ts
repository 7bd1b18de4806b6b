/** Everything Muster keeps in Redis, by name. All keys of a shard share one hash tag, so that every script is single-slot. */
export interface Keys {
  /** Things found before a tenant is known; always on the first shard. */
  readonly fleet: FleetKeys;
  shard(index: number): ShardKeys;
  /** The shard that holds everything of this tenant. */
  shardOf(tenant: string): number;
  tenant(tenant: string): TenantKeys;
  readonly shards: number;
}

export interface FleetKeys {
  /** Hash: SHA-256 of an API key -> JSON of its tenant, scopes, name. */
  readonly apiKeys: string;
  /** String, for seconds: some process is making the first API key. */
  readonly firstApiKey: string;
  /** Hash: tenant id -> JSON of the tenant. */
  readonly tenants: string;
  /** Hash: hook id -> tenant id. */
  readonly hookOwners: string;
  /** Prefix of the rate limiter's and the sign-in sessions' own keys. */
  readonly http: string;
}

export interface ShardKeys {
  /** Sorted set: `<tenant>/<task>/<token>` of every running attempt -> when its lease ends, ms. */
  readonly leases: string;
  /** Hash: member of `leases` -> JSON of a stop that the worker has not answered yet. */
  readonly signals: string;
  /** Sorted set: `<tenant>/<task>.<ticket>,...` of tickets that may not be in BullMQ yet -> since when, ms. */
  readonly outbox: string;
  /** Sorted set: `<tenant>/<task>` -> its deadline, ms. */
  readonly deadlines: string;
  /** Pub/sub: `<tenant>/<task>,.../<event>` after each entry of a tenant's event stream. */
  readonly signal: string;
  /** Prefix of BullMQ's own keys. */
  readonly queues: string;
}

export interface TenantKeys {
  /** Hash: `body` (JSON as accepted), `state` (JSON; while parked it is in `parked`), `attempt:<token>`, `output`, `result`. */
  task(id: string): string;
  /** Stream: the output of a task's attempts. */
  output(id: string): string;
  /** Hash: task id -> JSON of its state, for tasks that wait for a lane or a cap, or were let through and not claimed yet. */
  readonly parked: string;
  /** Sorted set, all scores 0: `granted=<class>/<id>`, else `<status>/<id>`, and `backlog=<class>/<rank>/<id>`, of tasks that have not ended. */
  readonly states: string;
  /** Sorted set, all scores 0: `agent=<a>/<id>`, `source=<s>/<id>`, `status=<end>/<id>`, ... of every task. */
  readonly index: string;
  /** Stream: what happened, newest last, bounded. */
  readonly events: string;
  /** Hash: source class -> when its rate allows the next task. */
  readonly rates: string;
  /** String: `<task id> <hash of the body>`. */
  idempotency(key: string): string;
  /** Sorted set: tasks that hold a place in the lane -> since when, ms. */
  laneHeld(lane: string): string;
  /** Sorted set: tasks that wait for the lane -> their order. */
  laneWait(lane: string): string;
  /** Hash: agent id -> JSON of its definition, for agents made by API. */
  readonly agents: string;
  /** Hash: hook id -> JSON. */
  readonly hooks: string;
}

/** Names every key of an installation with this many shards. */
export function createKeys(shards: number): Keys {
  const shardOf = (tenant: string): number => hash(tenant) % shards;
  return {
    shards,
    fleet: {
      apiKeys: `${tag(0)}api-keys`,
      firstApiKey: `${tag(0)}first-api-key`,
      tenants: `${tag(0)}tenants`,
      hookOwners: `${tag(0)}hook-owners`,
      http: `${tag(0)}http`,
    },
    shard: (index) => shardKeys(tag(index)),
    shardOf,
    tenant: (tenant) => tenantKeys(`${tag(shardOf(tenant))}t:${tenant}:`),
  };
}

/** What every key of a shard starts with; Redis Cluster places keys by what stands in braces. */
function tag(shard: number): string {
  return `muster:{s${shard}}:`;
}

function shardKeys(prefix: string): ShardKeys {
  return {
    leases: `${prefix}leases`,
    signals: `${prefix}signals`,
    outbox: `${prefix}outbox`,
    deadlines: `${prefix}deadlines`,
    signal: `${prefix}signal`,
    queues: `${prefix}bull`,
  };
}

function tenantKeys(prefix: string): TenantKeys {
  return {
    task: (id) => `${prefix}task:${id}`,
    output: (id) => `${prefix}output:${id}`,
    parked: `${prefix}parked`,
    states: `${prefix}states`,
    index: `${prefix}index`,
    events: `${prefix}events`,
    rates: `${prefix}rates`,
    idempotency: (key) => `${prefix}idempotency:${key}`,
    laneHeld: (lane) => `${prefix}lane:${lane}:held`,
    laneWait: (lane) => `${prefix}lane:${lane}:wait`,
    agents: `${prefix}agents`,
    hooks: `${prefix}hooks`,
  };
}

/** FNV-1a, 32 bits: spreads tenants over shards, and always the same way. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
