import { forgetTask } from '#shared/ledger/forget-task.ts';
import { idAt } from '#shared/ledger/list-tasks.ts';
import { readTasks } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { isTerminal, TASK_STATUSES } from '#shared/tasks/transitions.ts';

/** Tasks forgotten per tenant in one round. */
const BATCH = 1000;
const TERMINAL = TASK_STATUSES.filter(isTerminal);

/**
 * Forgets tasks that ended longer ago than `tasks.retentionMs`. They are found by when they were accepted, so one that
 * ended much later is looked at in each round until its time is over too.
 */
export async function trimTasks(parts: Parts): Promise<void> {
  const before = Date.now() - parts.ledger.settings.tasks.retentionMs;
  for (const { id: tenant } of parts.tenants.list()) {
    for (const status of TERMINAL) await trimRange(parts, tenant, status, before);
  }
}

async function trimRange({ ledger, log }: Parts, tenant: string, status: string, before: number): Promise<void> {
  const { index } = ledger.keys.tenant(tenant);
  const prefix = `status=${status}/`;
  const members = await ledger.redis.zrangebylex(index, `[${prefix}`, `(${prefix}${idAt(before)}`, 'LIMIT', 0, BATCH);
  const tasks = await readTasks(
    ledger,
    tenant,
    members.map((member) => member.slice(prefix.length)),
  );
  const old = tasks.filter((task) => task !== null && (task.state.completedAt ?? 0) < before);
  for (const task of old) if (task) await forgetTask(ledger, task);
  const orphaned = members.filter((_, position) => tasks[position] === null);
  if (orphaned.length > 0) await ledger.redis.zrem(index, ...orphaned);
  if (old.length > 0) log.debug({ tenant, status, tasks: old.length }, 'forgot tasks whose time is over');
}
