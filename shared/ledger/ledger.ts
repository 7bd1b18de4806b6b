import { fileURLToPath } from 'node:url';
import type { Settings, TenantLimits } from '../config/index.ts';
import { LocalCounts } from '../metrics/index.ts';
import { type Keys, loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';
import type { TaskState } from '../tasks/index.ts';
import { type Batches, CallBatches } from './batches.ts';
import { scriptFragments } from './codec/fragments.ts';
import { StoredBytes } from './tenants/storage.ts';

export interface LedgerOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  /** A tenant's limits; null is none. */
  limitsOf(tenant: string): TenantLimits | null;
  /** Called for each task that a script granted besides: its ticket is in the outbox and should be added now. */
  onGranted(tenant: string, task: string, state: TaskState): void;
  /** Counts the steps of tasks; without it nothing is counted. */
  counts?: LocalCounts;
}

/** What the functions of this folder work on. The ledger is the only writer of task state. */
export interface Ledger extends Readonly<LedgerOptions> {
  readonly counts: LocalCounts;
  /** What tenants have stored, and may. */
  readonly stored: StoredBytes;
  /** Calls that go into one script together. */
  readonly batches: Batches;
  run(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

export type ScriptName =
  | 'accept-tasks'
  | 'append-log'
  | 'append-output'
  | 'cancel-task'
  | 'change-priority'
  | 'claim-tasks'
  | 'expire-deadline'
  | 'expire-lease'
  | 'offer-message'
  | 'promote-backlog'
  | 'promote-due'
  | 'read-heads'
  | 'read-states'
  | 'redrive-task'
  | 'reissue-ticket'
  | 'remove-task'
  | 'renew-leases'
  | 'settle-attempts'
  | 'take-input'
  | 'update-pressure';

/** Loads the scripts and binds them to a connection; opens nothing. */
export function createLedger(options: LedgerOptions, scripts: ReadonlyMap<string, Script> = ledgerScripts()): Ledger {
  return {
    ...options,
    counts: options.counts ?? new LocalCounts(false),
    stored: new StoredBytes(options),
    batches: new CallBatches(),
    run: (name, keys, args) => runScript(options.redis, scripts.get(name) as Script, keys, args),
  };
}

/** The scripts of the ledger by name, from `folder` when that is given. */
export function ledgerScripts(folder: string = fileURLToPath(new URL('scripts', import.meta.url))): ReadonlyMap<string, Script> {
  return loadScripts(folder, scriptFragments());
}
