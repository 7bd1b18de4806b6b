import { fleetKeys, type FleetKeys } from './fleet-keys.ts';
import { tenantKeys, type TenantKeys } from './tenant-keys.ts';

/** Everything Muster keeps in Redis, by name. All keys of a shard share one hash tag, so that every script is single-slot. */
export interface Keys {
  /** Keys that are read before a tenant is known; always on the first shard. */
  readonly fleet: FleetKeys;
  shard(index: number): ShardKeys;
  /** The shard that holds everything of this tenant. */
  shardOf(tenant: string): number;
  tenant(tenant: string): TenantKeys;
  /** What the names of all of a tenant's keys start with. */
  tenantPrefix(tenant: string): string;
  /** The same of a shard's tenants, before and after the tenant: for scripts that learn of a tenant as they run. */
  tenantNames(shard: number): readonly [before: string, after: string];
  readonly shards: number;
}

export type ShardKeys = Readonly<ReturnType<typeof shardKeys>>;

/** Tenants whose names of keys are remembered. */
const MAX_TENANTS = 1000;

/** Names every key of an installation with this many shards. */
export function createKeys(shards: number): Keys {
  const shardOf = (tenant: string): number => hash(tenant) % shards;
  const tenantNames = (shard: number): readonly [string, string] => [`${tag(shard)}t:`, ':'];
  const tenantPrefix = (tenant: string): string => tenantNames(shardOf(tenant)).join(tenant);
  const byShard = Array.from({ length: shards }, (_, index) => shardKeys(tag(index)));
  const byTenant = new Map<string, TenantKeys>();
  return {
    shards,
    fleet: fleetKeys(tag(0)),
    shard: (index) => byShard[index] ?? shardKeys(tag(index)),
    shardOf,
    tenant: (tenant) => {
      const known = byTenant.get(tenant);
      if (known) return known;
      if (byTenant.size >= MAX_TENANTS) byTenant.clear();
      const named = tenantKeys(tenantPrefix(tenant));
      byTenant.set(tenant, named);
      return named;
    },
    tenantPrefix,
    tenantNames,
  };
}

/** What every key of a shard starts with; Redis Cluster places keys by what stands in braces. */
function tag(shard: number): string {
  return `muster:{s${shard}}:`;
}

/** The work of all of a shard's tenants. See `fleetKeys` for the form of the comments. */
function shardKeys(prefix: string) {
  return {
    /**
     * Sorted set: `<tenant>/<task>/<token>` of an attempt -> end of its lease, ms; beside it the set `:critical`, those of critical tasks. Written
     * by: `start-taken.lua`, `renew-leases.lua`, `adopt-attempt.lua`, `finish.lua`, `batch.lua`, `fleet-room.lua`, `settle-expired.ts`. Kept: while
     * it runs. Bound: `limits.maxConcurrent`.
     */
    leases: `${prefix}leases`,
    /**
     * Hash: member of `leases`, or `<member>/preempt` -> JSON of a stop that its worker has not answered. Written by: `finish.lua`,
     * `preempt-tasks.lua`, `batch.lua`, `settle-expired.ts`. Kept: while it runs. Bound: as `leases`.
     */
    signals: `${prefix}signals`,
    /**
     * Hash: `<tenant>/<agent>` of an agent made by API -> how many of its tasks run at once, 0 for no bound any more. Written by: `put-agent.lua`,
     * `agent-caps.ts`. Kept: until the agent is deleted. Bound: `limits.maxAgentsPerTenant`.
     */
    agentCaps: `${prefix}agent-caps`,
    /** Hash: tenant -> its task that last made room for a critical one. Written by: `preempt-tasks.lua`. Kept: until the next one does. Bound: one per tenant. */
    preempted: `${prefix}preempted`,
    /**
     * Sorted set: `<tenant>/<task>.<ticket>,...` not yet in BullMQ, or set aside by a claim until it is looked at -> since when, ms. Written by:
     * `tickets.lua`, `context.lua`, `claim-tasks.lua`, `hold-task.lua`, `ticket-relay.ts`, `reclaimer.ts`. Kept: until added or reviewed. Bound:
     * granted tasks.
     */
    outbox: `${prefix}outbox`,
    /**
     * Sorted set, scores 0: tickets of tasks that stand at `slot`, as the ledger's `ready.lua` writes them. Written by: `tickets.lua`,
     * `reissue-ticket.lua`, `claim-tasks.lua`, `take.lua`. Kept: until they start. Bound: granted tasks.
     */
    ready: `${prefix}ready`,
    /**
     * Sorted set: `<tenant>/<task>` with a job in BullMQ that no worker has drawn -> its queue's number; beside it the hashes `:idle` (slots by queue
     * and worker) and `:starts` (of limited queues), and the sorted set `:awaited` (tickets that a key waits for). Written by: `tickets.lua`,
     * `reissue-ticket.lua`, `claim-tasks.lua`, `order.lua`, `take.lua`, `fleet-room.lua`, `drop-idle.lua`. Kept: until it is drawn or started. Bound:
     * idle slots and `dispatch.lookAhead`.
     */
    jobs: `${prefix}jobs`,
    /** Sorted set: `<tenant>/<task>` of tickets that 0.1 had given to BullMQ. Written by: releases of 0.1. Kept: until a worker starts. Bound: as written by 0.1. */
    window: `${prefix}window`,
    /** String: `<attempts>/<of these, for critical ones>` that the shard has of the fleet's cap; absent with one shard. Written by: `divide-cap.ts`. Kept: for good. Bound: one. */
    cap: `${prefix}cap`,
    /**
     * Sorted set: `<queue>/<rank>/<tenant>` -> its level and when its next ticket starts, ms of a slot by weight. Written by: `turns.lua`. Kept:
     * while tickets are ready. Bound: one per tenant and level.
     */
    turns: `${prefix}turns`,
    /** Hash: tenant with ready tickets -> its weight, when not 1. Written by: `turns.lua`. Kept: until the turns of all have ended. Bound: one per tenant. */
    weights: `${prefix}weights`,
    /**
     * Sorted set: `<tenant>/<task>` -> its deadline, ms. Written by: `intake.lua`, `batch.lua`, `finish.lua`, `expire-deadline.lua`. Kept: until it
     * ends. Bound: one per task with a deadline.
     */
    deadlines: `${prefix}deadlines`,
    /**
     * Sorted set: `<tenant>/<task>/<entry>` of a run whose wait nobody has seen to -> when it began or was last tried, ms. Written by:
     * `settle-attempts.lua`, `ask-people.lua`, `promote-due.lua`, `watched-waits.ts`. Kept: until somebody did. Bound: suspended runs.
     */
    waits: `${prefix}waits`,
    /** Sorted set: `<tenant>/<question>` that is open -> when people are reminded of it next, ms. Written by: `reminders.ts`. Kept: until then. Bound: suspended runs. */
    reminders: `${prefix}question-reminders`,
    /**
     * Sorted set: `<tenant>/<event>` that is being sent -> since when, or when another process took it over, ms. Written by: `keep-event.lua`,
     * `close-event.lua`, `kept-events.ts`. Kept: until it is sent. Bound: one per call.
     */
    openEvents: `${prefix}open-events`,
    /**
     * Sorted set: `<tenant>/<batch>` of OpenAI's protocol that has not ended -> when somebody is to look at it next, ms. Written by: `batch-store.ts`.
     * Kept: until it ends. Bound: `openai.maxBatches`.
     */
    openBatches: `${prefix}open-batches`,
    /**
     * Sorted set: `<tenant>/<task>` -> its sla, ms. Written by: `intake.lua`, `breach-sla.lua`, `remove-task.lua`. Kept: until then, at most as long
     * as the task. Bound: one per task with an sla.
     */
    slas: `${prefix}slas`,
    /**
     * Sorted set: `<tenant>/<task>/<reason>` of a cancelled task whose sub-tasks are to be cancelled with it -> since when, ms. Written by:
     * `open-cancels.lua`, `open-cancels.ts`. Kept: until they are. Bound: tasks with sub-tasks.
     */
    openCancels: `${prefix}open-cancels`,
    /**
     * Sorted set: `<tenant>/<task>` that waits for a time -> that time, ms; of a suspended run 10^15 more. Written by: `context.lua`, `finish.lua`, `promote-due.lua`,
     * `review-tasks.lua`. Kept: until then. Bound: one per waiting task.
     */
    due: `${prefix}due`,
    /**
     * Sorted set, scores 0: `<kind>/<ms>/<tenant>/<task>` of an end with subscribers. Written by: `batch.lua`, `finish.lua`, `ended-tasks.ts`. Kept:
     * until processed. Bound: four each.
     */
    ended: `${prefix}ended`,
    /**
     * Sorted set: `<tenant>/<delivery>` -> next check of its job, ms. Written by: `put-delivery.lua`, `delivery-store.ts`. Kept: until it is done.
     * Bound: one per pending delivery.
     */
    deliveriesDue: `${prefix}deliveries-due`,
    /** Sorted set: `<tenant>/<action>` -> its next step, or the end of its retention, ms. Written by: `action-store.ts`. Kept: as `actions`. Bound: as `actions`. */
    actionsDue: `${prefix}actions-due`,
    /** Sorted set: `<tenant>/<erasure>` -> its next step, or the end of its retention, ms. Written by: `erasure-store.ts`. Kept: as `erasures`. Bound: as `erasures`. */
    erasuresDue: `${prefix}erasures-due`,
    /** Sorted set: `<tenant>/<file>` -> when its tasks are checked next, ms. Written by: `file-store.ts`, `file-cleaner.ts`. Kept: as `files`. Bound: as `files`. */
    filesDue: `${prefix}files-due`,
    /**
     * Sorted set: `<tenant>/<object>` of the archive that no task has, or none yet -> when it is removed, ms. Written by: `archive-task.ts`,
     * `archive-task.lua`, `restore-parts.lua`, `remove-task.lua`, `remove-objects.ts`. Kept: until it is removed. Bound: tasks that are archived or
     * forgotten in an hour.
     */
    archiveDue: `${prefix}archive-due`,
    /**
     * Sorted set: `<tenant>/<circuit>` -> its next check, ms. Written by: `report-circuit.lua`, `check-circuit.lua`, `release-circuit.lua`. Kept: as
     * `circuits`. Bound: as `circuits`.
     */
    circuitsDue: `${prefix}circuits-due`,
    /** Sorted set: `<tenant>/<schedule>` -> next check, ms. Written by: `schedule-store.ts`. Kept: until it ends. Bound: one per schedule. */
    schedulesDue: `${prefix}schedules-due`,
    /** String: some process compares the schedules with `schedulesDue`. Written by: `clock-watch.ts`. Kept: `scheduler.reconcileMs`. Bound: one. */
    schedulesReconciled: `${prefix}schedules-reconciled`,
    /**
     * Hash: tenant id -> `disabled` or `ended`; the first shard has all. Written by: `tenant-records.ts`, `clean-tenants.ts`. Kept:
     * `tenants.endedRetentionMs`. Bound: one per tenant.
     */
    tenantStates: `${prefix}tenant-states`,
    /** Hash: tenant -> `warning` or `critical`, as published to it. Written by: `update-pressure.lua`. Kept: until the load falls. Bound: one per tenant. */
    pressure: `${prefix}pressure`,
    /** Hash: tenant -> how often budgets of it were changed by API. Written by: `write-budget.lua`. Kept: for good. Bound: one per tenant with such. */
    budgetVersions: `${prefix}budget-versions`,
    /**
     * Channel: lines of `<tenant>/<task>,.../<event>` after the entries of tenants' event streams. Written by: `context.lua`, `tenant-events.ts` and
     * others. Kept: never. Bound: one.
     */
    signal: `${prefix}signal`,
    /**
     * Channel: stops and input for running attempts; see the ledger's `parseWorkerSignal`. Written by: `finish.lua`, `preempt-tasks.lua`,
     * `meet-others.lua`. Kept: never. Bound: one.
     */
    workerSignal: `${prefix}signal:stop`,
    /** String: written to find out whether Redis takes writes. Written by: `availability.ts`. Kept: a minute. Bound: one. */
    probe: `${prefix}probe`,
    /** Prefix: BullMQ's queues. Written by: `queue/queues.ts`. Kept: until a ticket ends, the last ended ones longer. Bound: `worker.keepFailedTickets` per queue. */
    queues: `${prefix}bull`,
  };
}

/** FNV-1a, 32 bits: spreads tenants over shards, and always the same way. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
