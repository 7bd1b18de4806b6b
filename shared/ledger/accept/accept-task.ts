import { type TenantKeys } from '../../redis/index.ts';
import { bodyText, firstState } from '../codec/body.ts';
import { failuresOf, MAX_ITEMS, MAX_PLAIN_ITEMS, runByTenant } from '../batches.ts';
import { agentLanes, contextKeys, laneOfAgent, runInContexts, shardGroup, shardKeys, type TenantCall } from '../context.ts';
import { costOf, levelName, ticketTail } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { lookupsOf } from '../read/lookups.ts';
import { type AcceptAnswer, type AcceptReply, ticketsOf, readAcceptReply } from './accept-answer.ts';
import { type NewTask, parentText, repeatText, sharedLanesText, submissionLimits } from './new-task.ts';
import { offerMessage } from './offer-message.ts';
import { arePlain, isUnlimited, ownKeys, plainAnswers, plainCall } from './plain-tasks.ts';

/** Accepts a task, by its mode when it meets work in its lane. */
export async function acceptMessage(ledger: Ledger, task: NewTask): Promise<AcceptAnswer> {
  if (!mayMeetOthers(task)) return await acceptNewTask(ledger, task);
  const answer = await offerMessage(ledger, task);
  if (answer.kind === 'refused') throw new Error(`The task ${task.body.id} was refused as input, which it is not`);
  return answer;
}

/** Input goes to its own agent only, so a message in mode `queue` whose agent takes none can do nothing but wait. */
function mayMeetOthers({ mode, lane, takesInput, skip }: NewTask): boolean {
  return mode !== null && lane !== null && skip === null && (mode !== 'queue' || takesInput);
}

/**
 * Accepts a task that does nothing to others: without a mode, or of a mode that can only wait. From here on it is never lost. When
 * `entry` is set, its ticket is to be added to BullMQ now; the outbox keeps it under that name until then.
 */
export async function acceptNewTask(ledger: Ledger, task: NewTask): Promise<AcceptAnswer> {
  return await ledger.batches.add({ ledger, run: acceptTasks, group: shardGroup(ledger, task.body.tenant) }, task);
}

/**
 * Accepts many tasks of one tenant that do nothing to others, in few calls. An error among the answers is that task's alone, or that of
 * all tasks of its call.
 */
export async function acceptNewTasks(ledger: Ledger, tasks: readonly NewTask[]): Promise<(AcceptAnswer | Error)[]> {
  const areFree = isUnlimited(ledger, tasks[0]?.body.tenant ?? '') && arePlain(ledger, tasks);
  const calls = Math.ceil(tasks.length / (areFree ? MAX_PLAIN_ITEMS : MAX_ITEMS));
  const size = Math.ceil(tasks.length / calls);
  const parts = Array.from({ length: calls }, (_, call) => tasks.slice(call * size, (call + 1) * size));
  const answers = await Promise.all(
    parts.map((part) => acceptTasks(ledger, part).catch((error: unknown) => part.map(() => error as Error))),
  );
  return answers.flat();
}

/** Accepts tasks of tenants of one shard. */
async function acceptTasks(ledger: Ledger, tasks: readonly NewTask[]): Promise<(AcceptAnswer | Error)[]> {
  return await runByTenant(
    tasks,
    ({ body }) => body.tenant,
    async (parts) => {
      if (!parts.every((own) => arePlain(ledger, own))) return await acceptAny(ledger, parts);
      const answers = await acceptPlain(ledger, parts);
      const full = parts.filter((_, at) => answers[at] === null);
      for (const [task] of full) if (task) ledger.full.set(task.body.tenant, true);
      const others = full.length === 0 ? [] : await acceptAny(ledger, full);
      return parts.map((own, at) => answers[at] ?? others[full.indexOf(own)] ?? []);
    },
  );
}

type Answers = (AcceptAnswer | Error)[];

/** Accepts plain tasks, tenant by tenant; null for a tenant that has no room for all of its tasks now. */
async function acceptPlain(ledger: Ledger, parts: readonly (readonly NewTask[])[]): Promise<(Answers | null)[]> {
  const calls = parts.map((own) => plainCall(ledger, own));
  const replies = await runInContexts(
    ledger,
    'accept-plain-tasks',
    calls.map(({ call }) => call),
  );
  return parts.map((own, at) => readReply(own, replies[at], (tasks, reply) => plainAnswers(tasks, calls[at]?.order ?? [], reply)));
}

/** Accepts tasks of any kind, tenant by tenant. */
async function acceptAny(ledger: Ledger, parts: readonly (readonly NewTask[])[]): Promise<Answers[]> {
  const calls = parts.map((own) => acceptCall(ledger, own));
  const replies = await runInContexts(ledger, 'accept-tasks', calls);
  return parts.map((own, at) => readReply(own, replies[at], anyAnswers));
}

/** The part of one tenant. */
function acceptCall(ledger: Ledger, tasks: readonly NewTask[]): TenantCall {
  const tenant = tasks[0]?.body.tenant ?? '';
  const keys = ledger.keys.tenant(tenant);
  const shard = shardKeys(ledger, tenant);
  const lanes = agentLanes(ledger, tenant);
  return {
    tenant,
    keys: [
      ...contextKeys(ledger, tenant),
      keys.rates,
      shard.deadlines,
      shard.ended,
      shard.due,
      shard.tenantStates,
      shard.slas,
      ...tasks.flatMap((task) => keysOf(keys, task)),
    ],
    options: submissionLimits(ledger, tenant),
    args: [ledger.settings.tasks.idempotencyMs, ...tasks.flatMap((task) => argumentsOf(ledger, task, lanes))],
  };
}

/** Reads the reply for one tenant, unless its part of the call failed. */
function readReply<Read>(
  tasks: readonly NewTask[],
  reply: unknown[] | Error | undefined,
  read: (tasks: readonly NewTask[], reply: unknown[]) => Read,
): Read | Error[] {
  if (reply === undefined || reply instanceof Error) return failuresOf(tasks, reply, 'a task could not be accepted');
  return read(tasks, reply);
}

function anyAnswers(tasks: readonly NewTask[], reply: unknown[]): Answers {
  const [entry, depth, ...replies] = reply as [string, number, ...AcceptReply[]];
  const tickets = ticketsOf(tasks[0]?.body.tenant ?? '', entry);
  return tasks.map(({ body }, position) => readAcceptReply(body.id, replies[position] ?? ['failed', 'no answer'], depth, tickets));
}

function keysOf(keys: TenantKeys, task: NewTask): string[] {
  const { repeats, body } = task;
  return [...ownKeys(keys, task), ...(repeats ? [keys.repeats(body.source, body.agent)] : [])];
}

function argumentsOf(ledger: Ledger, task: NewTask, lanes: Record<string, number>): (string | number)[] {
  const { body, lane, idempotency, rateClass, skip } = task;
  const costMs = costOf(ledger, task);
  const first = firstState(task, costMs);
  const lookups = lookupsOf(body);
  return [
    body.id,
    idempotency?.digest ?? '',
    skip === null ? rateClass : '',
    lane ? 1 : '',
    pathOf(task, lanes),
    bodyText(task, first),
    task.class,
    levelName(task.queue, task.priority),
    ticketTail({ costMs, maxAttempts: body.execution.maxAttempts, agent: body.agent, lane: lane?.name ?? null }),
    body.deadline ?? '',
    body.sla ?? '',
    first.ranksFrom ?? '',
    sharedLanesText(task),
    repeatText(task),
    parentText(task),
    lookups.length,
    ...lookups,
  ];
}

/** Lets the script decode no more than it needs; see its header. `lanes`: the lanes that its tenant's limits give to agents now. */
function pathOf({ body, lane, sharedLanes, mode, skip }: NewTask, lanes: Record<string, number>): 'free' | 'line' | 'skip' | '' {
  if (skip !== null) return 'skip';
  if (body.scheduledFor !== null) return '';
  const own = laneOfAgent(body.agent);
  // A lane that its agent got since the task was made.
  if (own in lanes && !sharedLanes.some(({ name }) => name === own)) return '';
  const isInTurn = lane?.limit === 1 && lane.order === undefined && mode === null && sharedLanes.length === 0;
  return isInTurn ? 'line' : 'free';
}
