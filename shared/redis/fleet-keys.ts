/**
 * Keys that are read before a tenant is known, on the first shard. Each has its type and content, which files write it or run the scripts
 * that do, how long that is kept, and what bounds its size; dotted names in backticks after that are settings.
 */
export function fleetKeys(prefix: string): FleetKeys {
  return { ...accessKeys(prefix), ...runningKeys(prefix) };
}

export type FleetKeys = Readonly<ReturnType<typeof accessKeys> & ReturnType<typeof runningKeys>>;

/** Keys of the installation, its tenants, and what opens them. */
function accessKeys(prefix: string) {
  return {
    /** String: `<form of the data> <shards>` that everything here was written with. Written by: `shared/redis/installation.ts`. Kept: for good. Bound: one. */
    installation: `${prefix}installation`,
    /** Hash: `*` or a tenant that is being restored -> JSON of the backup, and how far it is. Written by: `restore-backup.ts`. Kept: until it is restored or wiped. Bound: tenants. */
    restores: `${prefix}restores`,
    /** String: name of this fleet, on machines that several fleets share. Written by: `fleet-id.ts`. Kept: for good. Bound: one. */
    fleetId: `${prefix}fleet-id`,
    /** String: secret that signs addresses of files. Written by: `shared/files/file-links.ts`. Kept: for good. Bound: one. */
    fileSecret: `${prefix}file-secret`,
    /**
     * Hash: id of a storage of files -> JSON of who stores there, and when it was noted. Written by: `storage-watch.ts`. Kept: 3 minutes
     * after the last note. Bound: 1000.
     */
    fileStorages: `${prefix}file-storages`,
    /** Hash: the same for the archive of old tasks. Written by: `storage-watch.ts`. Kept: 3 minutes after the last note. Bound: 1000. */
    archiveStorages: `${prefix}archive-storages`,
    /** Hash: SHA-256 of an API key -> JSON of its tenant, scopes and name. Written by: `key-store.ts`. Kept: until revoked. Bound: `limits.maxKeysPerTenant`. */
    apiKeys: `${prefix}api-keys`,
    /** String: some process is making the first API key. Written by: `ensure-first-key.ts`. Kept: 5 s. Bound: one. */
    firstApiKey: `${prefix}first-api-key`,
    /** Hash: name of a tenant -> JSON of it, with its id. Written by: `tenant-records.ts`. Kept: until deleted. Bound: `limits.maxTenants`. */
    tenants: `${prefix}tenants`,
    /** String: how often tenants, limits of the fleet or caps of agents were changed. Written by: `record-changes.ts`. Kept: for good. Bound: one. */
    recordChanges: `${prefix}record-changes`,
    /**
     * Hash: name of a deleted tenant -> its generation. Written by: `tenant-records.ts`, `clean-tenants.ts`. Kept: `tenants.endedRetentionMs`. Bound:
     * one per deletion in that time.
     */
    tenantGenerations: `${prefix}tenant-generations`,
    /**
     * Sorted set: id of a deleted tenant -> when it ended, ms. Written by: `tenant-records.ts`, `clean-tenants.ts`. Kept: `tenants.endedRetentionMs`.
     * Bound: one per deletion in that time.
     */
    endedTenants: `${prefix}ended-tenants`,
    /**
     * Sorted set: id of a deleted tenant -> next clean-up, ms. Written by: `tenant-records.ts`, `clean-tenants.ts`. Kept: until nothing of it is
     * left. Bound: one per deletion.
     */
    tenantsToClean: `${prefix}tenants-to-clean`,
    /** Hash: hook id -> tenant id. Written by: `hook-store.ts`. Kept: until the hook is deleted. Bound: `webhooks.maxHooksPerTenant`. */
    hookOwners: `${prefix}hook-owners`,
    /** Prefix: counters of the HTTP rate limiter. Written by: `rate-limits.ts`. Kept: one minute. Bound: one per key, or per address and receiver, that called. */
    http: `${prefix}http`,
    /** String: JSON of a browser's sign-in, by the digest of its cookie. Written by: `sign-in-store.ts`. Kept: `http.signInMs`. Bound: one per sign-in. */
    signIn: (id: string) => `${prefix}signed-in:${id}`,
    /**
     * Set: sign-ins of one session at the identity provider, by its digest. Written by: `sign-in-store.ts`. Kept: `http.signInMs` after the last
     * one. Bound: sign-ins of that session.
     */
    providerSession: (digest: string) => `${prefix}provider-session:${digest}`,
    /** String: this logout token of the identity provider was used, by its digest. Written by: `back-channel-logout.ts`. Kept: twenty minutes. Bound: one per token. */
    logoutToken: (digest: string) => `${prefix}logout-token:${digest}`,
    /**
     * Hash: id of a person of a provider -> JSON, with the roles of the last sign-in. Written by: `person-store.ts`. Kept:
     * `signIn.peopleRetentionMs`. Bound: `signIn.maxPeople`.
     */
    people: `${prefix}people`,
    /** Sorted set: id of a person -> last sign-in, ms. Written by: `person-store.ts`. Kept: as `people`. Bound: as `people`. */
    peopleSeen: `${prefix}people-seen`,
    /**
     * Hash: `<person>/<tenant, or *>` where an administrator disabled the person -> since when, ms. Written by: `person-store.ts`. Kept: until
     * enabled. Bound: one per person and tenant.
     */
    peopleDisabled: `${prefix}people-disabled`,
    /** Hash: id of a person -> random mark that the person's sign-ins have, changed when all of them end. Written by: `person-store.ts`. Kept: as `people`. Bound: as `people`. */
    peopleMarks: `${prefix}people-marks`,
    /**
     * String: JSON of a link that signs a browser in once, by the SHA-256 of its token. Written by: `shared/tenants/sign-in-links.ts`. Kept: until
     * it is used, or `signIn.linkMs`. Bound: one per link.
     */
    signInLink: (digest: string) => `${prefix}sign-in-link:${digest}`,
    /** String: JSON of a visitor's token, by its SHA-256. Written by: `visitor-store.ts`. Kept: until it expires. Bound: `sessions.maxVisitors` per tenant. */
    visitor: (digest: string) => `${prefix}visitor:${digest}`,
    /** Sorted set: digest of a visitor's token -> its expiry, ms. Written by: `visitor-store.ts`. Kept: until the last expires. Bound: `sessions.maxVisitors`. */
    visitors: (tenant: string) => `${prefix}visitors:${tenant}`,
  };
}

/** Keys of who runs tasks, and of what all tenants share. */
function runningKeys(prefix: string) {
  return {
    /** Hash: id of a registered daemon of a tenant -> JSON, with the digest of its token. Written by: `daemon-store.ts`. Kept: until removed. Bound: `hub.maxDaemonsPerTenant`. */
    daemons: (tenant: string) => `${prefix}daemons:${tenant}`,
    /** Hash: name of a registered daemon of a tenant -> its id. Written by: `daemon-store.ts`. Kept: as `daemons`. Bound: as `daemons`. */
    daemonNames: (tenant: string) => `${prefix}daemon-names:${tenant}`,
    /** Hash: SHA-256 of a daemon's token -> `<tenant>/<id>`. Written by: `daemon-store.ts`. Kept: until it is rotated or the daemon removed. Bound: one per daemon. */
    daemonTokens: `${prefix}daemon-tokens`,
    /**
     * Hash: `<tenant>/<id>` of a daemon -> `<last beat, ms> <connection, or - when it ended> <JSON>` as its hub wrote it. Written by:
     * `daemon-states.ts`. Kept: until the daemon is removed. Bound: one per daemon.
     */
    daemonStates: `${prefix}daemon-states`,
    /** Channel: JSON of daemons' beats, of connections that ended, and of registrations that were changed. Written by: `daemon-signals.ts`. Kept: never. Bound: one. */
    daemonSignal: `${prefix}daemon-signal`,
    /** Channel: JSON of tasks that one hub offers to a daemon of another, and of tenants with held tasks. Written by: `hub-link.ts`. Kept: never. Bound: one. */
    hubSignal: `${prefix}hub-signal`,
    /** Sorted set: JSON of a process (services, release, time zone data) -> last beat, ms. Written by: `process-registry.ts`. Kept: an hour after that. Bound: one per process. */
    processes: `${prefix}processes`,
    /** Hash: process id -> JSON of what keeps it from taking work. Written by: `process-registry.ts`. Kept: while it does. Bound: as `processes`. */
    processProblems: `${prefix}process-problems`,
    /** Hash: configuration by release and digest -> JSON of when it came and was last in force. Written by: `claim-configuration.lua`. Kept: for good. Bound: 50. */
    configurations: `${prefix}configurations`,
    /**
     * Sorted set: worker -> last heartbeat, ms. Written by: `worker-registry.ts`, `mark-dead-workers.lua`. Kept: until it stops or misses heartbeats.
     * Bound: one per worker.
     */
    workers: `${prefix}workers`,
    /**
     * Hash: worker -> JSON of its last report. Written by: `worker-registry.ts`, `mark-dead-workers.lua`. Kept: as `workers` and `deadWorkers`.
     * Bound: `fleet.maxWorkers`.
     */
    workerNotes: `${prefix}worker-notes`,
    /**
     * Sorted set: dead worker -> its last heartbeat, ms. Written by: `mark-dead-workers.lua`, `worker-registry.ts`. Kept: `fleet.deadRetentionMs`.
     * Bound: `fleet.maxWorkers`.
     */
    deadWorkers: `${prefix}dead-workers`,
    /**
     * Hash: worker -> when its drain was requested, ms. Written by: `worker-registry.ts`, `mark-dead-workers.lua`. Kept: as `workerNotes`. Bound: one
     * per worker.
     */
    workerDrains: `${prefix}worker-drains`,
    /** Hash: group of workers -> JSON of what one of it serves. Written by: `worker-registry.ts`. Kept: for good. Bound: one per `MUSTER_WORKER_GROUP`. */
    workerGroups: `${prefix}worker-groups`,
    /** Channel: `drain <worker>` when the drain of a worker is requested. Written by: `worker-registry.ts`. Kept: never. Bound: one. */
    drainSignal: `${prefix}drain-signal`,
    /**
     * Hash: queue whose tasks no worker takes -> since when, ms, and `<queue> notified` once operators were notified. Written by:
     * `unserved-queues.ts`. Kept: until a worker takes them. Bound: two per queue.
     */
    unservedQueues: `${prefix}unserved-queues`,
    /** List: JSON of a machine's snapshot, newest first. Written by: `snapshots.ts`. Kept: until newer ones replace it. Bound: `fleet.maxSnapshots`. */
    snapshots: `${prefix}snapshots`,
    /** String: the loss of this worker was published. Written by: `tenant-events.ts`. Kept: one minute. Bound: one per lost worker. */
    workerLost: (worker: string) => `${prefix}worker-lost:${worker}`,
    /** Channel: a process sends to itself, to see that it receives. Written by: `subscription.ts`. Kept: never. Bound: one per process. */
    echo: (process: string) => `${prefix}echo:${process}`,
    /**
     * Hash: configuration -> since when a process of it was seen, ms, and the names of its agents; `<configuration> worker` -> the same of its workers,
     * and the versions of its agents. Written by: `foreign-agents.ts`. Kept: for good. Bound: 40.
     */
    configuredAgents: `${prefix}configured-agents`,
    /** String: a process divides the fleet's cap among the shards. Written by: `divide-cap.ts`. Kept: half a second. Bound: one. */
    capDivision: `${prefix}cap-division`,
    /** String: some process serves this chat platform. Written by: `schedules/platforms.ts`. Kept: ten minutes. Bound: one per platform. */
    servedPlatform: (name: string) => `${prefix}served-platform:${name}`,
    /** Hash: chat platform -> JSON of why it refuses the bot. Written by: `refused-platforms.ts`. Kept: a quarter of an hour. Bound: one per platform. */
    refusedPlatforms: `${prefix}refused-platforms`,
    /** String: JSON of a worker's report of its own end. Written by: `ledger/claim/blame.ts`. Kept: ten minutes. Bound: one per worker that ended so. */
    blame: (worker: string) => `${prefix}blame:${worker}`,
    /**
     * Hash: `<family>|<labels>` -> count since the installation. Written by: `fleet-metrics.ts`. Kept: for good. Bound: queues, bands, sources,
     * `metrics.maxCodes`, agents and models.
     */
    metrics: `${prefix}metrics`,
    /** Hash: counts of the fleet in one minute since 1970. Written by: `fleet-metrics.ts`. Kept: `metrics.historyMs`. Bound: `metrics.historyMs`. */
    metricMinute: (minute: number) => `${prefix}metric-minute:${minute}`,
    /** Set: codes of agents' own choice that attempts are counted by. Written by: `code-labels.ts`. Kept: for good. Bound: `metrics.maxCodes`. */
    metricCodes: `${prefix}metric-codes`,
    /** String: JSON of what waits in the fleet, as some process read it. Written by: `load-reader.ts`. Kept: a second or more. Bound: one. */
    load: `${prefix}load`,
    /** String: the same, where reading takes long. Written by: `load-reader.ts`. Kept: twice as long. Bound: one. */
    lastLoad: `${prefix}last-load`,
    /** Hash: finding of the installation -> JSON of it. Written by: `finding-store.ts`. Kept: until it is resolved or acknowledged. Bound: `MAX_KEPT` of the findings. */
    findings: `${prefix}findings`,
    /** Hash: finding -> JSON of who acknowledged it, when, and how severe it was. Written by: `finding-store.ts`. Kept: while it lasts. Bound: as `findings`. */
    acknowledged: `${prefix}acknowledged`,
    /** Hash: alert -> JSON of it, its rule and its finding, while it fires. Written by: `alert-store.ts`. Kept: until it is resolved. Bound: findings, for each rule. */
    alerts: `${prefix}alerts`,
    /** Hash: `<rule> firing` and `<rule> resolved` -> when its receiver last took such a message, ms; `<rule> failed` -> JSON of its failures since. Written by: `receiver-store.ts`. Kept: for good. Bound: three for each rule that there was. */
    alertReceivers: `${prefix}alert-receivers`,
    /** String: JSON of the fleet's load and its level, as a chore read them. Written by: `fleet-pressure.ts`. Kept: until the next reading. Bound: one. */
    pressure: `${prefix}fleet-pressure`,
    /** String: JSON of the fleet's limits, when they were changed by API. Written by: `fleet-limits-directory.ts`. Kept: until they are reset. Bound: one. */
    limits: `${prefix}fleet-limits`,
    /** String: JSON of the tenants' shares of the fleet's running caps. Written by: `fleet-shares.ts`. Kept: until the next division. Bound: tenants with work. */
    shares: `${prefix}fleet-shares`,
    /** Hash: source class and window -> when the fleet's rate allows the next task. Written by: `take-fleet-rates.lua`. Kept: for good. Bound: two per class. */
    rates: `${prefix}fleet-rates`,
    /** Sorted set: model of an account, by digest -> its last call, ms. Written by: `admit-call.lua`. Kept: `throttle.retentionMs`. Bound: `throttle.maxRecords`. */
    throttles: `${prefix}throttles`,
    /**
     * Sorted set: one of `throttles` for which tasks wait -> since when, ms. Written by: `flows.lua`, `release-waiting.ts`. Kept: while they wait.
     * Bound: `throttle.maxRecords`.
     */
    throttleWaits: `${prefix}throttle-waits`,
    /**
     * Hash: a model's names, learned limits and parameters, next free times and refusals. Written by: `throttle.lua`, `learned-parameters.ts`. Kept:
     * `throttle.retentionMs`. Bound: `throttle.maxRecords`.
     */
    throttle: (id: string) => `${prefix}throttle:${id}`,
    /** Hash: `r<second>` and `t<second>` -> calls and tokens that were booked. Written by: `throttle.lua`. Kept: two minutes. Bound: as `throttle`. */
    throttleWindow: (id: string) => `${prefix}throttle-window:${id}`,
    /**
     * Sorted set: call under way -> end of its lease, ms. Written by: `admit-call.lua`, `report-call.lua`, `throttle.lua`. Kept:
     * `throttle.callLeaseMs`. Bound: slots of the fleet.
     */
    throttleCalls: (id: string) => `${prefix}throttle-calls:${id}`,
    /** Sorted set: call that waits in its slot for another's end -> its last try, ms. Written by: `admit-call.lua`. Kept: while it waits. Bound: slots of the fleet. */
    throttleLine: (id: string) => `${prefix}throttle-line:${id}`,
    /**
     * Hash: tenant -> `<ms>:<tokens>:<expiry>,...` booked for its released tasks. Written by: `providers/scripts/include/reservations.lua`. Kept:
     * `throttle.reservationMs`. Bound: one per tenant.
     */
    throttleReserved: (id: string) => `${prefix}throttle-reserved:${id}`,
    /**
     * Hash: `<band>`, `<band>/<tenant>` -> its next turn, of fair shares. Written by: `flows.lua`, `admit-call.lua`. Kept: while tasks wait. Bound:
     * one per tenant and band.
     */
    throttleTurns: (id: string) => `${prefix}throttle-turns:${id}`,
    /** Sorted set: `<band>/<tenant>` with tasks that wait -> its next turn. Written by: `flows.lua`. Kept: while they wait. Bound: one per tenant and band. */
    throttleFlows: (id: string, band: string) => `${prefix}throttle-flows:${id}:${band}`,
    /** Hash: a refusal of an account or endpoint, until when, and its probe. Written by: `blocks.lua`. Kept: `throttle.retentionMs`. Bound: one per refusing one. */
    throttleBlock: (scope: string) => `${prefix}throttle-block:${scope}`,
    /** Hash: group of requests for a provider's batches, by digest -> JSON of what they call. Written by: `model-batch-store.ts`. Kept: for good. Bound: models of the configuration. */
    modelBatchGroups: `${prefix}model-batch-groups`,
    /** Sorted set: `<tenant>/<task>/<entry>` of a request that waits to be sent -> since when, ms. Written by: `model-batch-store.ts`, `take-requests.lua`. Kept: until it is sent. Bound: `modelBatches.maxWaiting`. */
    modelBatchLine: (group: string) => `${prefix}model-batch-line:${group}`,
    /**
     * Hash: such a request -> JSON of its group, size and reservation, and `of:<request>` -> the batch that it is in. Written by: `model-batch-store.ts`,
     * `take-requests.lua`. Kept: until it is answered. Bound: requests that wait or are in batches.
     */
    modelBatchRequests: `${prefix}model-batch-requests`,
    /** Sorted set: batch at a provider -> when to look at it next, ms. Written by: `model-batch-store.ts`, `take-requests.lua`. Kept: until it has ended. Bound: one per batch. */
    modelBatches: `${prefix}model-batches`,
    /**
     * Hash: of such a batch its `record` as JSON, how far it was sent, the provider's `progress`, and `request:<request>` for each without an answer.
     * Written by: `model-batch-store.ts`, `take-requests.lua`. Kept: until it has ended. Bound: `modelBatches.maxRequests`.
     */
    modelBatch: (id: string) => `${prefix}model-batch:${id}`,
    /**
     * Hash: `<chore>/ran` and `<chore>/failed` -> JSON of its last round in the fleet, and of the last that failed. Written by: `chore-records.ts`.
     * Kept: for good. Bound: two per chore.
     */
    chores: `${prefix}chores`,
    /** String: some process watches the workers. Written by: `worker-watch.ts`. Kept: most of `worker.heartbeatIntervalMs`. Bound: one. */
    workersWatched: `${prefix}workers-watched`,
    /** String: the process that does the chores of one process of this service. Written by: `chore-lease.ts`. Kept: 5 s. Bound: one per service. */
    choreLease: (service: string) => `${prefix}chore-lease:${service}`,
    /** Prefix: what the chat adapters know of people and threads, and which message asks which question. Written by: `create-chat-service.ts`. Kept: each key expires. Bound: one per person, thread and question. */
    chat: `${prefix}chat`,
  };
}
