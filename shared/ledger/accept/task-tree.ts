import { RUNAWAY_BUDGET } from '../../config/index.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { readHeads } from '../read/read-states.ts';

/** A task that others descend from, by delegation. */
export interface TreeRoot {
  tenant: string;
  root: string;
}

/**
 * `full`: the root has as many descendants as it may; `old`: it has had some for as long as it may. `cut`: no more are accepted, for this
 * reason. `fast`: the tenant's tasks made too many tasks within a minute, `made` of them below `root`, which is to be cut; then others may
 * go on. `busy`: the same, and no root made most of them.
 */
export type DescendantAnswer =
  | { kind: 'counted' | 'full' | 'old' }
  | { kind: 'cut'; reason: string }
  | { kind: 'fast'; root: string; made: number }
  | { kind: 'busy'; retryAfterMs: number };

/** A task that is about to be accepted; `task`: its id, where it may come again, which counts once then. */
export interface Descendant extends TreeRoot {
  task?: string | undefined;
}

/** Counts a task among the descendants of its root. */
export async function countDescendant(ledger: Ledger, { tenant, root, task = '' }: Descendant): Promise<DescendantAnswer> {
  const { runaways, tasks } = ledger.settings;
  const keys = ledger.keys.tenant(tenant);
  const bounds = [runaways.maxDescendants, runaways.maxTreeMs, runaways.maxMadePerMinute, tasks.retentionMs];
  const [kind, first = '', made] = (await ledger.run(
    'count-descendant',
    [keys.taskTree(root), keys.delegated],
    [root, ...bounds, task],
  )) as [DescendantAnswer['kind'], (string | number)?, number?];
  switch (kind) {
    case 'cut':
      return { kind, reason: `${first}` };
    case 'fast':
      return { kind, root: `${first}`, made: Number(made) };
    case 'busy':
      return { kind, retryAfterMs: Number(first) };
    case 'counted':
    case 'full':
    case 'old':
      return { kind };
  }
}

/** Takes back the count of a task that was not accepted. */
export async function uncountDescendant({ redis, keys }: Ledger, { tenant, root, task }: Descendant): Promise<void> {
  if (task !== undefined && (await redis.hdel(keys.tenant(tenant).taskTree(root), `task:${task}`)) === 0) return;
  await redis.hincrby(keys.tenant(tenant).taskTree(root), 'tasks', -1);
}

/** Lets none of the root's descendants be accepted or start any more, and notifies its tenant. Returns false when it was cut before. */
export async function cutTree(ledger: Ledger, { tenant, root }: TreeRoot, reason: string): Promise<boolean> {
  const { taskTree, events } = ledger.keys.tenant(tenant);
  const { events: eventSettings, tasks } = ledger.settings;
  const options = JSON.stringify({ tenant, channel: shardKeys(ledger, tenant).signal, maxEvents: eventSettings.maxPerTenant });
  return (await ledger.run('cut-tree', [taskTree(root), events], [options, root, reason, tasks.retentionMs])) === 1;
}

/** What uses tokens of a task: an attempt by its token, or something else of it by a name. */
interface TokenUse {
  id: string;
  token: number | string;
}

/** Counts the tokens that an attempt has used so far as its root's. Returns those of the root and all that descends from it. */
export async function countTokens(ledger: Ledger, { tenant, root }: TreeRoot, use: TokenUse, used: number): Promise<number> {
  const { taskTree } = ledger.keys.tenant(tenant);
  const keys = [taskTree(root)];
  return (await ledger.run('count-tokens', keys, [`${use.id}:${use.token}`, used, ledger.settings.tasks.retentionMs])) as number;
}

/** The tokens of a root and all that descends from it, as far as they were counted. */
export async function readTokens({ redis, keys }: Ledger, { tenant, root }: TreeRoot): Promise<number> {
  return Number((await redis.hget(keys.tenant(tenant).taskTree(root), 'tokens')) ?? 0);
}

/** Why descendants of the root do not start any more; null when they do. */
export async function readCut({ redis, keys }: Ledger, { tenant, root }: TreeRoot): Promise<string | null> {
  return await redis.hget(keys.tenant(tenant).taskTree(root), 'cut');
}

/** Lets the relatives of a task be accepted and start again, as many, with as many tokens and at as much cost as from the beginning. */
export async function liftCut(ledger: Ledger, tenant: string, id: string): Promise<void> {
  const root = (await readHeads(ledger, tenant, [id])).get(id)?.rootTaskId ?? id;
  const { taskTree, spent } = ledger.keys.tenant(tenant);
  await ledger.redis.unlink(taskTree(root), spent(`${RUNAWAY_BUDGET}|${root}|total`));
}
