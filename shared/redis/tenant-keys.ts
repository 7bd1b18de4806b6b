import { openaiKeys } from './openai-keys.ts';

/** Everything of one tenant. See `fleetKeys` for the form of the comments. */
export function tenantKeys(prefix: string): TenantKeys {
  return keysUnder(prefix);
}

export type TenantKeys = Readonly<ReturnType<typeof keysUnder>>;

function keysUnder(prefix: string) {
  return {
    /**
     * Hash: task id -> JSON of it as accepted, with its first state. Written by: `items.lua`, `archive-task.lua`, `restore-parts.lua`, `remove-task.lua`. Kept: `tasks.retentionMs` after its
     * end. Bound: `tasks.maxEnded`.
     */
    bodies: `${prefix}bodies`,
    /**
     * Hash: task id -> its state: a head of words, and a tail of JSON or `-` (see the ledger's `include/states.lua`). Written by: `intake.lua`,
     * `grants.lua`, `start-taken.lua`, `batch.lua`, `context.lua` and others. Kept: as `bodies`. Bound: as `bodies`.
     */
    states: `${prefix}task-states`,
    /** Hash: id of a completed task -> its final text. Written by: `batch.lua`, `remove-task.lua`. Kept: as `bodies`. Bound: `tasks.maxOutputBytes` each. */
    outputs: `${prefix}outputs`,
    /** Hash: task id -> JSON of its result. Written by: `batch.lua`, `remove-task.lua`. Kept: as `bodies`. Bound: `tasks.maxOutputBytes` each. */
    results: `${prefix}results`,
    /**
     * Hash: `<task id>:<token>` -> JSON of an attempt that another followed. Written by: `settle-attempts.lua`, `reopen-task.lua`, `remove-task.lua`.
     * Kept: as `bodies`. Bound: attempts and interruptions.
     */
    attempts: `${prefix}attempts`,
    /**
     * Hash: `<task id>:<token>` -> JSON of what a running attempt has used. Written by: `report-usage.lua`, `batch.lua`. Kept: until it ends. Bound:
     * running attempts.
     */
    runningUsage: `${prefix}running-usage`,
    /** Hash: agent, source and model -> what was used of it on one day since 1970. Written by: `count-usage.lua`. Kept: `usage.retentionDays`. Bound: `usage.maxRows`. */
    usageDay: (day: number) => `${prefix}usage:${day}`,
    /**
     * Hash: of a root task, how many descend from it, since when, their tokens by attempt, and why they were cut. Written by: `count-descendant.lua`,
     * `cut-tree.lua`, `count-tokens.lua`, `task-tree.ts`. Kept: `tasks.retentionMs` after the last. Bound: roots.
     */
    taskTree: (root: string) => `${prefix}tree:${root}`,
    /**
     * Hash: root task -> tasks made below it within a minute, with all of them and the largest part. Written by: `count-descendant.lua`. Kept: a
     * minute. Bound: `runaways.maxMadePerMinute`.
     */
    delegated: `${prefix}delegated`,
    /**
     * Hash: agent -> JSON of its tasks that failed in a row. Written by: `failures.lua`, `agent-failures.ts`. Kept: until one completes or a person
     * retries. Bound: agents.
     */
    failing: `${prefix}failing`,
    /** Hash: agent -> JSON of who paused it, when and why. Written by: `paused-agents.ts`. Kept: until a person resumes it. Bound: agents. */
    pausedAgents: `${prefix}paused-agents`,
    /**
     * String: JSON of equal inputs in a row that a source had for an agent, and of those that are held. Written by: `accept/repeats.lua`,
     * `forget-repeats.lua`. Kept: `runaways.sameInput.windowMs`. Bound: agents and sources.
     */
    repeats: (source: string, agent: string) => `${prefix}repeats:${source}:${agent}`,
    /**
     * Sorted set, scores 0: `granted=<class>/<id>` or `<status>/<id>`, and `backlog=<class>/<rank>/<id>`, `holds=<lane>/<id>`,
     * `waits=<lane>/<time>/<id>`, `passed=<since>/<id>` of shared lanes, `hold=<gate>:<what>/<rank>/<id>`, `asking=<question>/<id>`. Written by:
     * `intake.lua`, `grants.lua`, `gates.lua` and others. Kept: until the task ends. Bound: `limits.tenant.running` and `limits.tenant.waiting`.
     */
    live: `${prefix}live`,
    /**
     * Sorted set, scores 0: `agent=<a>/<id>`, `status=<end>/<id>`, `end=<end>/<agent>/<source>/<code>/<id>` and the like, escaped. Written by:
     * `intake.lua`, `batch.lua`, `finish.lua` and others. Kept: as `bodies`. Bound: some per task.
     */
    index: `${prefix}index`,
    /**
     * Stream: the tenant's events, newest last. Written by: `context.lua`, `tenant-events.ts` and others. Kept: until newer ones replace them. Bound:
     * `events.maxPerTenant`.
     */
    events: `${prefix}events`,
    /** Hash: source class and window -> when its rate allows the next task. Written by: `accept/rates.lua`. Kept: for good. Bound: two per class. */
    rates: `${prefix}rates`,
    /** Hash: `<source>|<band>` -> tasks refused under pressure, and `published` (ms). Written by: `update-pressure.lua`. Kept: until the load falls. Bound: sources and bands. */
    shed: `${prefix}shed`,
    /** Hash: counts of the tenant in one minute since 1970. Written by: `fleet-metrics.ts`. Kept: `metrics.tenantHistoryMs`. Bound: `metrics.tenantHistoryMs`. */
    metricMinute: (minute: number) => `${prefix}metric-minute:${minute}`,
    /**
     * Hash: what the tenant's agents did in one hour since 1970, by `<agent>|<figure>`. Written by: `fleet-metrics.ts`. Kept:
     * `metrics.tenantAgentsMs`. Bound: `metrics.maxAgents`.
     */
    agentHour: (hour: number) => `${prefix}agent-hour:${hour}`,
    /**
     * Hash: how attempts of the tenant's agents ended in one minute since 1970, by `<agent>|<end>`. Written by: `fleet-metrics.ts`. Kept:
     * `metrics.failingMs`. Bound: `metrics.maxAgents`.
     */
    agentMinute: (minute: number) => `${prefix}agent-minute:${minute}`,
    /**
     * Hash: `<agent>/<band>` -> how long attempts hold a slot, ms on average. Written by: `add-service-times.lua`. Kept: `metrics.serviceTimesMs`.
     * Bound: `metrics.maxServiceTimes`.
     */
    serviceTimes: `${prefix}service-times`,
    /** String: JSON of what waits of the tenant, as some process read it. Written by: `load-reader.ts`. Kept: a second or more. Bound: one. */
    load: `${prefix}load`,
    /** String: the same, where reading takes long. Written by: `load-reader.ts`. Kept: twice as long. Bound: one. */
    lastLoad: `${prefix}last-load`,
    /** String: `<task id> <digest of the request>`. Written by: `items.lua`. Kept: `tasks.idempotencyMs`. Bound: one per request with a key. */
    idempotency: (key: string) => `${prefix}idempotency:${key}`,
    /**
     * Sorted set: task that holds a place in the lane -> since when, ms. Written by: `lanes.lua`, `leave-lanes.lua`, `admit-short.lua`,
     * `meet-others.lua`. Kept: until it leaves. Bound: the lane's limit.
     */
    laneHeld: (lane: string) => `${prefix}lane:${lane}:held`,
    /**
     * Sorted set: task that waits for the lane -> its order. Written by: `lane-line.lua`, `lanes.lua`, `leave-lanes.lua`, `admit-short.lua`,
     * `meet-others.lua`. Kept: until its turn. Bound: `sessions.maxWaiting`.
     */
    laneWait: (lane: string) => `${prefix}lane:${lane}:wait`,
    /** Hash: a session's `mode`, `transcriptFrom` (ms), `surface`. Written by: `session-store.ts`. Kept: `sessions.retentionMs`. Bound: `sessions.maxRecords`. */
    session: (id: string) => `${prefix}session:${id}`,
    /** Sorted set: session that has a `session` record -> its last use, ms. Written by: `session-store.ts`. Kept: `sessions.retentionMs`. Bound: `sessions.maxRecords`. */
    sessionRecords: `${prefix}session-records`,
    /** String: JSON of a command and its answer, by the caller's key. Written by: `incoming-message.ts`. Kept: `tasks.idempotencyMs`. Bound: one per command. */
    command: (key: string) => `${prefix}command:${key}`,
    /**
     * Hash: id -> `<version> <open or ended> <JSON>` of an action upon many tasks. Written by: `action-store.ts`. Kept: `actions.retentionMs` after
     * its end. Bound: `actions.maxKept`.
     */
    actions: `${prefix}actions`,
    /**
     * Hash: `<agent> <endpoint>` -> JSON of calls that failed in a row. Written by: `admit-circuit.lua`, `report-circuit.lua`, `check-circuit.lua`,
     * `release-circuit.lua`, `give-probe.lua`. Kept: `circuits.retentionMs` after the last. Bound: `circuits.maxRecords`.
     */
    circuits: `${prefix}circuits`,
    /**
     * Hash: file id -> JSON of its name, media type and bytes. Written by: `file-store.ts`, `file-cleaner.ts`. Kept: `files.uploadMs`, and as long as
     * a task that has it. Bound: `files.maxPerTenant`.
     */
    files: `${prefix}files`,
    /** Hash: `files` and `bytes` of all in `files`. Written by: `file-store.ts`, `file-cleaner.ts`. Kept: while there are any. Bound: two. */
    fileTotals: `${prefix}file-totals`,
    /** Sorted set, scores 0: `<file>/<task>` that has it. Written by: `file-store.ts`, `file-cleaner.ts`. Kept: as `bodies`. Bound: `files.maxPerTask` per task. */
    fileOwners: `${prefix}file-owners`,
    /**
     * Hash: `in/<place>`, `out/<name>` or `journal/<number>` -> JSON of a file that was fetched for a task, made by it, or has what a step gave.
     * Written by: `file-store.ts`, `file-cleaner.ts`. Kept: as `bodies`. Bound: `files.maxPerTask` each, and `journal.maxEntries`.
     */
    taskFiles: (id: string) => `${prefix}task-files:${id}`,
    /** Hash: agent id -> JSON of an agent made by API. Written by: `put-agent.lua`, `tenants/scripts/replace-record.lua`, `agent-caps.ts`. Kept: until deleted. Bound: `limits.maxAgentsPerTenant`. */
    agents: `${prefix}agents`,
    /** Hash: id -> JSON of a budget made by API. Written by: `write-budget.lua`. Kept: until deleted. Bound: `limits.maxBudgetsPerTenant`. */
    budgets: `${prefix}budgets`,
    /**
     * Hash: `spent` in a window of a budget, millionths of a US dollar, and which of its lines were notified. Written by: `settle-spend.lua`,
     * `raise-spent.lua`. Kept: a week longer than the window, or `limits.keepSpentMs` after the last use. Bound: one per budget, or per session,
     * agent and the like that it counts.
     */
    spent: (window: string) => `${prefix}spent:${window}`,
    /**
     * Hash: `call:<id>` -> JSON of an open model call, and `sum:<window>` reserved there. Written by: `reserve-spend.lua`, `settle-spend.lua`,
     * `grant-room.lua`, `release-ended.lua`. Kept: while its attempt runs. Bound: open calls.
     */
    reservations: `${prefix}reservations`,
    /**
     * Hash: what a budget refused and its tasks wait for: the smallest amount (`least`), any room at all (`any`), and what was promised to released
     * ones. Written by: `room.lua`, `grant-room.lua`, `release-budgets.ts`. Kept: ten minutes after the last refusal. Bound: as `spent`.
     */
    refused: (hold: string) => `${prefix}refused:${hold}`,
    /** Stream: JSON of who changed what. Written by: `audit-log.ts`. Kept: `audit.retentionMs`. Bound: `audit.maxPerTenant`. */
    audit: `${prefix}audit`,
    /** Hash: hook id -> JSON. Written by: `hook-store.ts`, `tenants/scripts/replace-record.lua`. Kept: until deleted. Bound: `webhooks.maxHooksPerTenant`. */
    hooks: `${prefix}hooks`,
    /** String: delivery id that first brought this body, by SHA-256. Written by: `identify-delivery.ts`. Kept: `tasks.idempotencyMs`. Bound: one per body. */
    hookBody: (hook: string, digest: string) => `${prefix}hook-body:${hook}:${digest}`,
    /**
     * Stream: the newest deliveries of a hook that were accepted, or refused, as JSON. Written by: `hook-deliveries.ts`. Kept:
     * `webhooks.deliveries.retentionMs` after the last. Bound: `webhooks.deliveries.keep`.
     */
    hookDeliveries: (hook: string, kind: 'accepted' | 'refused') => `${prefix}hook-deliveries:${hook}:${kind}`,
    /** Hash: id -> `<version> <number> <JSON>`. Written by: `schedule-store.ts`. Kept: `scheduler.endedRetentionMs` after its end. Bound: `scheduler.maxSchedulesPerTenant`. */
    schedules: `${prefix}schedules`,
    /** Sorted set: schedule id -> its number for people. Written by: `schedule-store.ts`. Kept: as `schedules`. Bound: as `schedules`. */
    scheduleNumbers: `${prefix}schedule-numbers`,
    /** String: the highest number that a schedule had. Written by: `schedule-store.ts`. Kept: for good. Bound: one. */
    scheduleCount: `${prefix}schedule-count`,
    /** Hash: key that a schedule was created under -> `<schedule id> <digest>`. Written by: `schedule-store.ts`. Kept: as `schedules`. Bound: as `schedules`. */
    scheduleKeys: `${prefix}schedule-keys`,
    ...deliveriesUnder(prefix),
    ...openaiKeys(prefix),
    ...reportsUnder(prefix),
    ...runEventsUnder(prefix),
    ...albumsUnder(prefix),
    ...findingsUnder(prefix),
    ...keptUnder(prefix),
    ...erasuresUnder(prefix),
  };
}

function deliveriesUnder(prefix: string) {
  return {
    /** String: JSON of a delivery. Written by: `put-delivery.lua`. Kept: `deliveries.retentionMs` after its last change. Bound: three per task. */
    delivery: (id: string) => `${prefix}delivery:${id}`,
    /**
     * Sorted set, scores 0: `all/<id>`, `kind=<k>/<id>`, `status=<s>/<id>` of deliveries. Written by: `put-delivery.lua`, `delivery-lookups.ts`.
     * Kept: as `delivery`. Bound: three each.
     */
    deliveries: `${prefix}deliveries`,
    /** String: JSON of the secrets that sign callbacks. Written by: `callback-secrets.ts`, `tenants/scripts/replace-record.lua`. Kept: for good. Bound: one. */
    callbackSecret: `${prefix}callback-secret`,
    /** Hash: failing endpoint -> JSON. Written by: `callback-records.ts`. Kept: `deliveries.callbacks.endpointRetentionMs`. Bound: `deliveries.callbacks.maxEndpoints`. */
    callbackEndpoints: `${prefix}callback-endpoints`,
  };
}

/** What runs leave. */
function reportsUnder(prefix: string) {
  return {
    /**
     * Hash: number of an entry of the task's journal -> JSON of it, how many have ended (`done`), the one that began `last`, the sub-tasks that an
     * entry waits for (`children:<number>`), why some are not accepted yet (`later`), and whether a batch's use was counted (`used:<number>`). Written by:
     * `append-journal.lua`, `ask-people.lua`, `settle-attempts.lua`, `add-usage.lua`, `answer-call.lua`, `promote-due.lua`, `remove-task.lua`, `reopen-task.lua`,
     * `archive-task.lua`, `restore-parts.lua`, `delegation.ts`. Kept: as `bodies`. Bound: `journal.maxEntries`.
     */
    journal: (id: string) => `${prefix}journal:${id}`,
    /**
     * Sorted set, scores 0: id of a question that a run put to people; the entry of its journal is the record. Written by: `question-list.ts`,
     * `remove-task.lua`. Kept: as `bodies`. Bound: `journal.maxEntries` per task.
     */
    questions: `${prefix}questions`,
    /**
     * List: id of each question that was put to a session, oldest first: the first one that is open is asked there. Written by:
     * `session-questions.ts`. Kept: `questions.maxWaitMs` after the last. Bound: its suspended runs.
     */
    sessionQuestions: (session: string) => `${prefix}session-questions:${session}`,
    /** String: when the last digest of open questions was due, ms. Written by: `question-events.ts`. Kept: two days. Bound: one. */
    questionDigest: `${prefix}question-digest`,
    /**
     * Stream: the output of a task's attempts. Written by: `append-entry.lua`, `remove-task.lua`. Kept: `tasks.outputRetentionMs` after the last
     * write. Bound: `tasks.maxOutputEntries`.
     */
    output: (id: string) => `${prefix}output:${id}`,
    /**
     * Stream: JSON of what a task's agent reports. Written by: `append-entry.lua`, `remove-task.lua`. Kept: `tasks.logRetentionMs` after the last.
     * Bound: `tasks.maxLogEntries`.
     */
    log: (id: string) => `${prefix}log:${id}`,
  };
}

/** Events that runs wait for. */
function runEventsUnder(prefix: string) {
  return {
    /**
     * Hash: JSON of an `event`, when it came (`at`, ms), to how many runs it goes (`deliver`) and how many have it (`taken`). Written by:
     * `keep-event.lua`, `promote-due.lua`, `close-event.lua`. Kept: until it is sent, and `events.keepMs`. Bound: `events.maxKept`.
     */
    runEvent: (id: string) => `${prefix}run-event:${id}`,
    /** Sorted set: `<name>/<ms>/<id>` of an event that is kept -> when it came, ms. Written by: `keep-event.lua`, `close-event.lua`. Kept: as `runEvent`. Bound: `events.maxKept`. */
    keptEvents: `${prefix}kept-events`,
    /** Sorted set, scores 0: the same, by name. Written by: `keep-event.lua`, `close-event.lua`. Kept: as `runEvent`. Bound: `events.maxKept`. */
    eventNames: `${prefix}event-names`,
    /** String: how many runs an event resumed when it was sent. Written by: `close-event.lua`. Kept: `tasks.idempotencyMs`. Bound: one per event. */
    sentEvent: (id: string) => `${prefix}sent-event:${id}`,
  };
}

function albumsUnder(prefix: string) {
  return {
    /** Sorted set: session with parts of albums -> when they become messages, ms. Written by: `album-store.ts`. Kept: until then. Bound: one per session. */
    albumsDue: (platform: string) => `${prefix}albums-due:${platform}`,
    /** Hash: key of an album's part -> JSON, before it is a message. Written by: `album-store.ts`. Kept: `tasks.idempotencyMs`. Bound: `chat.albumMaxParts`. */
    albumParts: (session: string) => `${prefix}album-parts:${session}`,
    /** String: JSON list of the parts that are becoming messages. Written by: `album-store.ts`. Kept: `tasks.idempotencyMs`. Bound: as `albumParts`. */
    albumBatch: (session: string) => `${prefix}album-batch:${session}`,
    /** Sorted set: part or album that became a message -> when it is forgotten, ms. Written by: `album-store.ts`. Kept: `tasks.idempotencyMs`. Bound: one per part. */
    albumsTaken: (session: string) => `${prefix}albums-taken:${session}`,
  };
}

function findingsUnder(prefix: string) {
  return {
    /** Hash: finding of the tenant -> JSON of it. Written by: `finding-store.ts`. Kept: until it is resolved or acknowledged. Bound: `MAX_KEPT` of the findings. */
    findings: `${prefix}findings`,
    /** Hash: finding -> JSON of who acknowledged it, when, and how severe it was. Written by: `finding-store.ts`. Kept: while it lasts. Bound: as `findings`. */
    acknowledged: `${prefix}acknowledged`,
  };
}

function keptUnder(prefix: string) {
  return {
    /** Hash: agent -> JSON of the file with its program's session and working folder, as its last run in a session, or of a task without one, left them. Written by: `keep-run.lua`. Kept: `workspaces.keepMs`. Bound: one per session, or task without one, and agent. */
    keptRuns: (of: string) => `${prefix}kept:${of}`,
    /** Hash: `<agent>/<daemon>` -> JSON of the working folder that its last run left on the disk of the daemon. Written by: `daemon-workspaces.ts`. Kept: as `keptRuns`. Bound: as `keptRuns`, for each daemon. */
    keptOnDaemons: (of: string) => `${prefix}kept-on-daemons:${of}`,
  };
}

/** What is to be erased of people and sessions. */
function erasuresUnder(prefix: string) {
  return {
    /** Hash: id -> JSON of an erasure. Written by: `erasure-store.ts`. Kept: 30 days after its end, then without a name. Bound: 1000. */
    erasures: `${prefix}erasures`,
    /** Set: `task/<id>`, `file/<id>` and `session/<id>` of what an erasure removes. Written by: `erasure-step.ts`. Kept: until its end. Bound: its tasks and files. */
    erasing: (id: string) => `${prefix}erasing:${id}`,
  };
}
