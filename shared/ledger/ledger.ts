import { fileURLToPath } from 'node:url';
import type { FleetLimits, Settings, TaskQueue, TenantLimits } from '../config/index.ts';
import type { ObjectArchive } from '../files/index.ts';
import { configuredFleetLimits, FleetRates, type FleetShare, Seal } from '../tenants/index.ts';
import type { Traces } from '../log/index.ts';
import { LocalCounts } from '../metrics/index.ts';
import {
  type FsyncBarrier,
  type Keys,
  loadScripts,
  type RedisClient,
  runScript,
  runTogether,
  type Script,
  type ScriptCall,
} from '../redis/index.ts';
import { Recent } from '../time/index.ts';
import type { IssuedTicket } from './grants/tickets.ts';
import { type Batches, CallBatches } from './batches.ts';
import type { GateKinds } from './gate-kind.ts';
import type { StartHold } from './settle/agent-starts.ts';
import type { OpenCancel } from './settle/open-cancels.ts';
import { scriptFragments } from './codec/fragments.ts';
import { measureTenant, StoredBytes } from './tenants/storage.ts';

export interface LedgerOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  /** A tenant's limits; null is none. */
  limitsOf(tenant: string): TenantLimits | null;
  /** How many tasks of a tenant's own agents run at once, by agent, 0 for no bound any more; without it what their tasks were accepted with. */
  agentCapsOf?(tenant: string): Readonly<Record<string, number>>;
  /** Tenants whose agents may have gained a bound since some of their tasks were accepted; without it none has. */
  boundedTenants?(): readonly string[];
  /** The limits of the fleet that hold now; without it the configuration's. */
  fleetLimits?(): FleetLimits;
  /** A tenant's share of the fleet's caps on what runs; null, as without it, while there are none. */
  fleetShareOf?(tenant: string): FleetShare | null;
  /** Called for each ticket that a script let out besides: it is in the outbox and should be added now. */
  onTicket(ticket: IssuedTicket): void;
  /** Called for each task that a message stopped whose sub-tasks are to be cancelled now; without it a worker does so later. */
  onOpenCancel?(cancel: OpenCancel): void;
  /** Slots that live workers offer a queue, each with all of its own; null while that is unknown. */
  offeredSlots?(queue: TaskQueue): number | null;
  /** Milliseconds of a slot that a task of this agent is expected to take; null, as without it, is a second. */
  costOf?(tenant: string, agent: string, level: { queue: TaskQueue; priority: number }): number | null;
  /** What tasks can wait at, by name. */
  gates?: GateKinds;
  /** Seals what runs keep; without it that is in clear. */
  seal?: Seal;
  /** Where the long parts of old tasks are; without it none is archived, and none that was can be read. */
  archive?: ObjectArchive | undefined;
  /** Counts the steps of tasks; without it nothing is counted. */
  counts?: LocalCounts;
  /** What is accepted has passed it when it is answered; without it Redis's own `appendfsync` holds. */
  fsync?: Pick<FsyncBarrier, 'mark' | 'pass'> | undefined;
  /** Records what is done with tasks as spans; without it nothing is. */
  traces?: Traces | undefined;
}

/** What the functions of this folder work on. The ledger is the only writer of task state. */
export interface Ledger extends Readonly<LedgerOptions> {
  readonly counts: LocalCounts;
  readonly gates: GateKinds;
  readonly seal: Seal;
  /** Agents, as `<tenant>/<agent>`, whose tasks may start, as read a moment ago or as is being read. */
  readonly working: Recent<string, Promise<StartHold | null>>;
  fleetLimits(): FleetLimits;
  /** Rates of all tenants together. */
  readonly fleetRates: FleetRates;
  /** What tenants have stored, and may. */
  readonly stored: StoredBytes;
  /** Calls that go into one script together. */
  readonly batches: Batches;
  run(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** Runs calls of one script for tenants of one shard in one round trip; see `runTogether` of scripts. */
  runTogether(name: ScriptName, calls: readonly ScriptCall[], common: string): ReturnType<typeof runTogether>;
}

/** Agents that one process knows to work, and for how long, ms. */
const MAX_WORKING = 10_000;
const WORKING_MS = 1000;

export type ScriptName =
  | 'accept-tasks'
  | 'add-usage'
  | 'adopt-attempt'
  | 'answer-call'
  | 'append-entry'
  | 'append-journal'
  | 'apply-limits'
  | 'archive-task'
  | 'ask-people'
  | 'begin-attempt'
  | 'breach-sla'
  | 'cancel-task'
  | 'change-priority'
  | 'claim-tasks'
  | 'count-descendant'
  | 'count-ends'
  | 'count-tokens'
  | 'cut-tree'
  | 'drop-idle'
  | 'expire-deadline'
  | 'find-archivable'
  | 'forget-repeats'
  | 'hold-task'
  | 'index-ends'
  | 'list-holds'
  | 'match-texts'
  | 'measure-keys'
  | 'preempt-tasks'
  | 'promote-due'
  | 'read-bodies'
  | 'read-facts'
  | 'read-heads'
  | 'read-levels'
  | 'read-parts'
  | 'read-places'
  | 'read-states'
  | 'reopen-task'
  | 'reissue-ticket'
  | 'restore-parts'
  | 'restore-tasks'
  | 'remove-task'
  | 'renew-leases'
  | 'report-usage'
  | 'review-tasks'
  | 'settle-attempts'
  | 'take-input'
  | 'update-pressure';

/** Loads the scripts and binds them to a connection; opens nothing. */
export function createLedger(options: LedgerOptions): Ledger {
  const scripts = ledgerScripts();
  const fleetLimits = (): FleetLimits => options.fleetLimits?.() ?? configuredFleetLimits(options.settings);
  const ledger: Ledger = {
    ...options,
    fleetLimits,
    fleetRates: new FleetRates({ redis: options.redis, keys: options.keys, limits: fleetLimits }),
    gates: options.gates ?? {},
    seal: options.seal ?? new Seal(),
    working: new Recent({ maxEntries: MAX_WORKING, keepMs: WORKING_MS }),
    counts: options.counts ?? new LocalCounts(false),
    stored: new StoredBytes({ ...options, measure: (tenant) => measureTenant(ledger, tenant) }),
    batches: new CallBatches(),
    run: (name, keys, args) => runScript(options.redis, scripts.get(name) as Script, keys, args),
    runTogether: (name, calls, common) => runTogether(options.redis, scripts.get(name) as Script, calls, common),
  };
  return ledger;
}

/** The scripts of the ledger by name, from `folder` when that is given. */
export function ledgerScripts(folder: string = fileURLToPath(new URL('scripts', import.meta.url))): ReadonlyMap<string, Script> {
  return loadScripts(folder, scriptFragments());
}
