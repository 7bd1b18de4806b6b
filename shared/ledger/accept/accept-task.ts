import { failuresOf, MAX_ITEMS, runByTenant } from '../batches.ts';
import { contextKeys, runInContexts, shardGroup, shardKeys, type TenantCall } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { parseOpenCancel } from '../settle/open-cancels.ts';
import { type AcceptAnswer, type AcceptReply, mayComeAgain, readAcceptReply, ticketsOf } from './accept-answer.ts';
import { type AcceptItem, itemOf } from './accept-item.ts';
import { type NewTask, submissionLimits } from './new-task.ts';

/**
 * Accepts a task, by its mode when it meets work in its lane. From here on it is never lost. When `entry` is set, its ticket is to be added to
 * BullMQ now; the outbox keeps it under that name until then. What it stops is stopped with its sub-tasks, whose cancels go to `onOpenCancel`.
 */
export async function acceptNewTask(ledger: Ledger, task: NewTask): Promise<AcceptAnswer> {
  return await accept(ledger, itemOf(ledger, task));
}

/** Accepts a message of a lane as input for the running task `target`. */
export async function offerMessage(ledger: Ledger, task: NewTask, target: string): Promise<AcceptAnswer> {
  return await accept(ledger, itemOf(ledger, task, target));
}

async function accept(ledger: Ledger, item: AcceptItem): Promise<AcceptAnswer> {
  return await ledger.batches.add({ ledger, run: acceptBatch, group: shardGroup(ledger, item.task.body.tenant) }, item);
}

/** Each call of its own. */
const acceptBatch = async (ledger: Ledger, items: readonly AcceptItem[]): Promise<Answers> => await acceptDurably(ledger, items);

type Answer = AcceptAnswer | Error;
type Answers = Answer[];

/**
 * Accepts many tasks of one tenant in few calls, one after the other, those of a lane in the order given: behind one that is refused for now,
 * and may come again, the others of its lane are refused with it. An error among the answers is that task's alone; behind a call that failed
 * no more are sent.
 */
export async function acceptNewTasks(ledger: Ledger, tasks: readonly NewTask[]): Promise<Answers> {
  const answers: Answers = [];
  /** By lane. */
  const refused = new Map<string, Answer>();
  for (let from = 0; from < tasks.length; from += MAX_ITEMS) {
    const part = tasks.slice(from, from + MAX_ITEMS).map((task) => ({ task, ready: refused.get(laneOf(task)) ?? tryItemOf(ledger, task) }));
    const sent = part.flatMap(({ ready }) => ('args' in ready ? [ready] : []));
    const replies = await acceptDurably(ledger, sent, { isInOrder: true }).catch((error: unknown) => error as Error);
    if (replies instanceof Error) return [...answers, ...tasks.slice(from).map(() => replies)];
    for (const { task, ready } of part) {
      const answer = 'args' in ready ? (replies.shift() ?? new Error(`no answer (task ${task.body.id} could not be accepted)`)) : ready;
      answers.push(answer);
      if (task.lane && mayComeAgain(answer)) refused.set(task.lane.name, answer);
    }
  }
  return answers;
}

function laneOf({ lane }: NewTask): string {
  return lane?.name ?? '';
}

function tryItemOf(ledger: Ledger, task: NewTask): AcceptItem | Error {
  try {
    return itemOf(ledger, task);
  } catch (error) {
    return error as Error;
  }
}

/** Accepts tasks of tenants of one shard. */
async function acceptDurably(ledger: Ledger, items: readonly AcceptItem[], options: Record<string, unknown> = {}): Promise<Answers> {
  const tenant = items[0]?.task.body.tenant ?? '';
  return await durably(ledger, tenant, () => acceptTogether(ledger, items, options));
}

/**
 * Answers once what was accepted for the tenant, or is read as accepted, is as durable as `redis.durability` says. Errors: `unavailable.fsync`, of what may
 * be accepted.
 */
export async function durably<T>({ fsync, keys }: Pick<Ledger, 'fsync' | 'keys'>, tenant: string, work: () => Promise<T>): Promise<T> {
  // Without a wait before it, since calls of one turn of the event loop are sent together.
  if (!fsync) return await work();
  const mark = await fsync.mark();
  const result = await work();
  await fsync.pass(mark, keys.shardOf(tenant));
  return result;
}

/** The same, all in one call of the script. */
async function acceptTogether(ledger: Ledger, items: readonly AcceptItem[], options: Record<string, unknown>): Promise<Answers> {
  return await runByTenant(
    items,
    ({ task }) => task.body.tenant,
    async (parts) => {
      const replies = await runInContexts(
        ledger,
        'accept-tasks',
        parts.map((own) => callOf(ledger, own, options)),
      );
      return parts.map((own, at) => readReply(ledger, own, replies[at]));
    },
  );
}

/** The part of one tenant. */
function callOf(ledger: Ledger, items: readonly AcceptItem[], options: Record<string, unknown>): TenantCall {
  const tenant = items[0]?.task.body.tenant ?? '';
  const shard = shardKeys(ledger, tenant);
  const { rates } = ledger.keys.tenant(tenant);
  return {
    tenant,
    keys: [
      ...contextKeys(ledger, tenant),
      rates,
      shard.deadlines,
      shard.ended,
      shard.due,
      shard.tenantStates,
      shard.slas,
      shard.leases,
      shard.signals,
      shard.openCancels,
      ...items.flatMap(({ keys }) => keys),
    ],
    options: { ...submissionLimits(ledger, tenant), rememberMs: `${ledger.settings.tasks.idempotencyMs}`, ...options },
    args: items.flatMap(({ args }) => args),
  };
}

function readReply(ledger: Ledger, items: readonly AcceptItem[], reply: unknown[] | Error | undefined): Answers {
  if (reply === undefined || reply instanceof Error) return failuresOf(items, reply, 'a task could not be accepted');
  const [entry, depth, open, ...replies] = reply as [string, number, string[], ...AcceptReply[]];
  for (const each of open) ledger.onOpenCancel?.(parseOpenCancel(each));
  const tickets = ticketsOf(items[0]?.task.body.tenant ?? '', entry);
  return items.map(({ task }, at) => readAcceptReply(task.body.id, replies[at] ?? ['failed', 'no answer'], depth, tickets));
}
