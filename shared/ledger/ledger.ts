import { fileURLToPath } from 'node:url';
import type { Settings, TenantLimits } from '../config/index.ts';
import { type Keys, loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';
import { batchCalls, type BatchedCall, type BatchRun } from './script-calls.ts';
import type { TaskState } from '../tasks/index.ts';
import { StoredBytes } from './tenants/storage.ts';
import { scriptFragments } from './lua-fragments.ts';

/** What the functions of this folder work on. The ledger is the only writer of task state. */
export interface Ledger {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  /** A tenant's limits; null is none. */
  limitsOf(tenant: string): TenantLimits | null;
  /** What tenants have stored, and may. */
  readonly stored: StoredBytes;
  run(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /**
   * Runs calls of one kind that come in the same turn of the event loop together, by group; see `batchCalls`. `caller`: whose calls,
   * when those of different ones do not go together.
   */
  batched<Item, Answer>(kind: string, run: BatchRun<Item, Answer>, caller?: string): BatchedCall<Item, Answer>;
  /** Told of each task that a step of another let through: its ticket is in the outbox and should be added now. */
  readonly onGranted: (tenant: string, task: string, state: TaskState) => void;
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
  | 'forget-task'
  | 'note-pressure'
  | 'offer-message'
  | 'promote-backlog'
  | 'promote-due'
  | 'read-heads'
  | 'read-states'
  | 'redrive-task'
  | 'reissue-ticket'
  | 'renew-leases'
  | 'settle-attempts'
  | 'take-input';

export interface LedgerOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  limitsOf(tenant: string): TenantLimits | null;
  onGranted(tenant: string, task: string, state: TaskState): void;
}

/**
 * Tasks one script handles at most. Fewer share its cost among too few; more make Redis and this process wait for each other in turn,
 * and hold everybody else up for longer. Measured by `npm run bench` with 16, 32 and 64.
 */
const BATCH = 32;

/** Loads the scripts and binds them to a connection; opens nothing. */
export function createLedger(options: LedgerOptions): Ledger {
  const scripts = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), scriptFragments());
  const batches = new Map<string, Map<string, BatchedCall<never, unknown>>>();
  return {
    ...options,
    stored: new StoredBytes(options),
    batched: <Item, Answer>(kind: string, run: BatchRun<Item, Answer>, caller = '') => {
      const callers = batches.get(kind) ?? new Map<string, BatchedCall<never, unknown>>();
      if (callers.size === 0) batches.set(kind, callers);
      const known = callers.get(caller) ?? (batchCalls(run, BATCH) as BatchedCall<never, unknown>);
      if (!callers.has(caller)) callers.set(caller, known);
      return known as BatchedCall<Item, Answer>;
    },
    run: (name, keys, args) => runScript(options.redis, scripts.get(name) as Script, keys, args),
  };
}
