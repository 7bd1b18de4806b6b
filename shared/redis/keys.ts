/** Everything Muster keeps in Redis, by name. All keys of a shard share one hash tag, so that every script is single-slot. */
export interface Keys {
  /** Things found before a tenant is known; always on the first shard. */
  readonly fleet: FleetKeys;
  shard(index: number): ShardKeys;
  /** The shard that holds everything of this tenant. */
  shardOf(tenant: string): number;
  tenant(tenant: string): TenantKeys;
  /** What the names of all of a tenant's keys start with. */
  tenantPrefix(tenant: string): string;
  readonly shards: number;
}

export interface FleetKeys {
  /** String: `<form of the data> <shards>`, by which all of this was written. */
  readonly installation: string;
  /** Hash: SHA-256 of an API key -> JSON of its tenant, scopes, name. */
  readonly apiKeys: string;
  /** String, for seconds: some process is making the first API key. */
  readonly firstApiKey: string;
  /** Hash: name of a tenant -> JSON of it, with the id that all else is kept under. */
  readonly tenants: string;
  /** Hash: name of a tenant -> generation of the last one of that name that ended. */
  readonly tenantGenerations: string;
  /** Sorted set: ids of tenants that ended -> when, ms. */
  readonly endedTenants: string;
  /** Sorted set: ids of ended tenants of which something may be left -> when to look, ms. */
  readonly tenantsToClean: string;
  /** Hash: hook id -> tenant id. */
  readonly hookOwners: string;
  /** Prefix of the rate limiter's own keys. */
  readonly http: string;
  /** String: JSON of who signed a browser in; `id` is the digest of what its cookie carries. */
  signIn(id: string): string;
  /** String, until it expires: JSON of a visitor's token, by its SHA-256. */
  visitor(digest: string): string;
  /** Sorted set: digests of a tenant's visitor tokens -> when they expire, ms. */
  visitors(tenant: string): string;
  /** Sorted set: worker -> when it was last heard of, ms. */
  readonly workers: string;
  /** Hash: worker -> JSON of what it says of itself. */
  readonly workerNotes: string;
  /** String, for a while: it was told that this worker is gone. */
  workerLost(worker: string): string;
  /** Pub/sub: what a process says to itself, to see that it hears. */
  echo(process: string): string;
  /** Hash: `<kind> <worker>` -> how many of the fleet's permits to run a ticket it holds. */
  readonly permits: string;
  /** Sorted set: worker -> until when its permits stand, ms. */
  readonly permitHolders: string;
  /** Hash: `<kind> <worker>` -> `<rank> <permits> <ms>` of workers that wait for permits. */
  readonly permitWaiters: string;
  /** Pub/sub: who waits for a permit, and who may have room now. */
  readonly permitSignal: string;
  /** String, for a while: some process serves this chat platform. */
  servedPlatform(name: string): string;
  /** String, for a while: JSON of what a worker's process said of its own end. */
  blame(worker: string): string;
  /** Prefix of what the chat platforms' adapters keep: who is who, which threads are followed. Every key expires. */
  readonly chat: string;
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
  /** Sorted set: `<tenant>/<task>` of each that waits for a time -> that time, ms. */
  readonly due: string;
  /** Sorted set, all scores 0: `<kind>/<ms>/<tenant>/<task>` of ends that somebody outside the ledger has to hear of. */
  readonly ended: string;
  /** Sorted set: `<tenant>/<delivery>` of each that is not done -> when somebody looks whether its job is still there, ms. */
  readonly deliveriesDue: string;
  /** Sorted set: `<tenant>/<schedule>` -> when to look at it next, ms. */
  readonly schedulesDue: string;
  /** String, for a while: some process is comparing the shard's schedules with `schedulesDue`. */
  readonly schedulesReconciled: string;
  /** Hash: tenant id -> `disabled` or `ended`, of those that are not active. On the first shard also for all others. */
  readonly tenantStates: string;
  /** Hash: tenant -> `warning` or `critical`, of those that were told that so many of their tasks have not ended. */
  readonly pressure: string;
  /** Pub/sub: `<tenant>/<task>,.../<event>` after each entry of a tenant's event stream. */
  readonly signal: string;
  /** Prefix of BullMQ's own keys. */
  readonly queues: string;
}

export interface TenantKeys {
  /** Hash: task id -> JSON of it as it was accepted, with the state that it began with. */
  readonly bodies: string;
  /** Hash: task id -> its state, JSON or short; see the ledger's `include/states.lua`. */
  readonly states: string;
  /** Hash: task id -> final text, of those that completed. */
  readonly outputs: string;
  /** Hash: task id -> JSON of its result, of those that have one. */
  readonly results: string;
  /** Hash: `<task id>:<token>` -> JSON, of attempts that others followed. */
  readonly attempts: string;
  /** Stream: the output of a task's attempts. */
  output(id: string): string;
  /** Stream, for a while: JSON of what a task's agent reports beside its output. */
  log(id: string): string;
  /**
   * Sorted set, all scores 0, of tasks that have not ended: `granted=<class>/<id>`, else `<status>/<id>`; and `backlog=<class>/<rank>/<id>`,
   * `holds=<lane>/<id>` and `waits=<lane>/<time>/<id>` of lanes that they share.
   */
  readonly live: string;
  /** Sorted set, all scores 0: `agent=<a>/<id>`, `source=<s>/<id>`, `status=<end>/<id>`, ... of every task; values escaped. */
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
  /** Hash: what was chosen for a session: `mode`, `transcriptFrom` (ms), `surface`. */
  session(id: string): string;
  /** Sorted set: sessions of which something was chosen -> when it was last used, ms. */
  readonly sessionRecords: string;
  /** String: JSON of what a command was and answered, under its caller's key. */
  command(key: string): string;
  /** Hash: agent id -> JSON of its definition, for agents made by API. */
  readonly agents: string;
  /** Hash: hook id -> JSON. */
  readonly hooks: string;
  /** String, for a while: id of the delivery that first brought a body, by its SHA-256, to a hook. */
  hookBody(hook: string, digest: string): string;
  /** Hash: schedule id -> `<version> <number> <JSON>`. */
  readonly schedules: string;
  /** Sorted set: schedule id -> its number, which the tenant's people use. */
  readonly scheduleNumbers: string;
  /** String: the highest number a schedule of the tenant ever had. */
  readonly scheduleCount: string;
  /** Hash: key under which a schedule was made -> `<schedule id> <digest>`. */
  readonly scheduleKeys: string;
  /** String, until its time to be read is over: JSON of a delivery. */
  delivery(id: string): string;
  /** Sorted set, all scores 0: `all/<delivery>`, `kind=<k>/<delivery>`, `status=<s>/<delivery>`. */
  readonly deliveries: string;
  /** String: JSON of the secrets that sign callbacks. */
  readonly callbackSecret: string;
  /** Hash: address of a callback endpoint that fails -> JSON of since when. */
  readonly callbackEndpoints: string;
  /** Sorted set: sessions of a chat platform that have parts of albums -> when these become messages, ms. */
  albumsDue(platform: string): string;
  /** Hash: key of a part of an album -> JSON, of a session's parts that are no message yet. */
  albumParts(session: string): string;
  /** String: JSON list of the parts that are becoming messages. */
  albumBatch(session: string): string;
  /** Sorted set: parts and albums of the session that became messages -> when they are forgotten, ms. */
  albumsTaken(session: string): string;
}

/** Names every key of an installation with this many shards. */
export function createKeys(shards: number): Keys {
  const shardOf = (tenant: string): number => hash(tenant) % shards;
  const tenantPrefix = (tenant: string): string => `${tag(shardOf(tenant))}t:${tenant}:`;
  return {
    shards,
    fleet: {
      installation: `${tag(0)}installation`,
      apiKeys: `${tag(0)}api-keys`,
      firstApiKey: `${tag(0)}first-api-key`,
      tenants: `${tag(0)}tenants`,
      tenantGenerations: `${tag(0)}tenant-generations`,
      endedTenants: `${tag(0)}ended-tenants`,
      tenantsToClean: `${tag(0)}tenants-to-clean`,
      hookOwners: `${tag(0)}hook-owners`,
      http: `${tag(0)}http`,
      signIn: (id) => `${tag(0)}signed-in:${id}`,
      visitor: (digest) => `${tag(0)}visitor:${digest}`,
      visitors: (tenant) => `${tag(0)}visitors:${tenant}`,
      workers: `${tag(0)}workers`,
      workerNotes: `${tag(0)}worker-notes`,
      workerLost: (worker) => `${tag(0)}worker-lost:${worker}`,
      echo: (process) => `${tag(0)}echo:${process}`,
      permits: `${tag(0)}permits`,
      permitHolders: `${tag(0)}permit-holders`,
      permitWaiters: `${tag(0)}permit-waiters`,
      permitSignal: `${tag(0)}permit-signal`,
      servedPlatform: (name) => `${tag(0)}served-platform:${name}`,
      blame: (worker) => `${tag(0)}blame:${worker}`,
      chat: `${tag(0)}chat`,
    },
    shard: (index) => shardKeys(tag(index)),
    shardOf,
    tenant: (tenant) => tenantKeys(tenantPrefix(tenant)),
    tenantPrefix,
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
    due: `${prefix}due`,
    ended: `${prefix}ended`,
    deliveriesDue: `${prefix}deliveries-due`,
    schedulesDue: `${prefix}schedules-due`,
    schedulesReconciled: `${prefix}schedules-reconciled`,
    tenantStates: `${prefix}tenant-states`,
    pressure: `${prefix}pressure`,
    signal: `${prefix}signal`,
    queues: `${prefix}bull`,
  };
}

function tenantKeys(prefix: string): TenantKeys {
  return {
    bodies: `${prefix}bodies`,
    states: `${prefix}task-states`,
    outputs: `${prefix}outputs`,
    results: `${prefix}results`,
    attempts: `${prefix}attempts`,
    output: (id) => `${prefix}output:${id}`,
    log: (id) => `${prefix}log:${id}`,
    live: `${prefix}live`,
    index: `${prefix}index`,
    events: `${prefix}events`,
    rates: `${prefix}rates`,
    idempotency: (key) => `${prefix}idempotency:${key}`,
    laneHeld: (lane) => `${prefix}lane:${lane}:held`,
    laneWait: (lane) => `${prefix}lane:${lane}:wait`,
    session: (id) => `${prefix}session:${id}`,
    sessionRecords: `${prefix}session-records`,
    command: (key) => `${prefix}command:${key}`,
    agents: `${prefix}agents`,
    hooks: `${prefix}hooks`,
    hookBody: (hook, digest) => `${prefix}hook-body:${hook}:${digest}`,
    schedules: `${prefix}schedules`,
    scheduleNumbers: `${prefix}schedule-numbers`,
    scheduleCount: `${prefix}schedule-count`,
    scheduleKeys: `${prefix}schedule-keys`,
    delivery: (id) => `${prefix}delivery:${id}`,
    deliveries: `${prefix}deliveries`,
    callbackSecret: `${prefix}callback-secret`,
    callbackEndpoints: `${prefix}callback-endpoints`,
    albumsDue: (platform) => `${prefix}albums-due:${platform}`,
    albumParts: (session) => `${prefix}album-parts:${session}`,
    albumBatch: (session) => `${prefix}album-batch:${session}`,
    albumsTaken: (session) => `${prefix}albums-taken:${session}`,
  };
}

/** FNV-1a, 32 bits: spreads tenants over shards, and always the same way. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
