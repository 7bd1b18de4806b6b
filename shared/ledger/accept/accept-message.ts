import { type AcceptAnswer, outboxOf, readAcceptReply, type AcceptReply } from './accept-answer.ts';
import type { Ledger } from '../ledger.ts';
import type { NewTask } from './new-task.ts';
import { offerMessage } from './offer-message.ts';
import { scriptJson, type TenantKeys } from '../../redis/index.ts';
import { admissionOptions, contextKeys } from '../script-context.ts';
import { bodyText, firstState } from '../codec/body.ts';
import { lookupsOf } from '../read/lookups.ts';

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
 * Accepts tasks that do nothing to others: those without a mode, and those of a mode that can only wait. See `acceptMessage` for
 * the rest. From here on the task is never lost. When `entry` is set, its ticket is to be added to BullMQ now; the outbox remembers
 * it under that name until then.
 */
export async function acceptNewTask(ledger: Ledger, task: NewTask): Promise<AcceptAnswer> {
  return await ledger.batched<NewTask, AcceptAnswer>('accept', (tenant, tasks) => acceptTasks(ledger, tenant, tasks))(
    task.body.tenant,
    task,
  );
}

async function acceptTasks(ledger: Ledger, tenant: string, tasks: NewTask[]): Promise<(AcceptAnswer | Error)[]> {
  const keys = ledger.keys.tenant(tenant);
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const isUnlimited = ledger.limitsOf(tenant) === null;
  const common = [...contextKeys(ledger, tenant), keys.rates, shard.deadlines, shard.ended, shard.due, shard.tenantStates];
  const [entry, depth, ...replies] = (await ledger.run(
    'accept-tasks',
    [...common, ...tasks.flatMap((task) => keysOf(keys, task))],
    [admissionOptions(ledger, tenant), ledger.settings.tasks.idempotencyMs, ...tasks.flatMap((task) => argumentsOf(task, isUnlimited))],
  )) as [string, number, ...AcceptReply[]];
  const owed = outboxOf(tenant, entry);
  return replies.map((reply, position) => readAcceptReply(tasks[position]?.body.id ?? '', reply, depth, owed));
}

function keysOf(keys: TenantKeys, { idempotency, lane }: NewTask): string[] {
  return [
    ...(idempotency ? [keys.idempotency(idempotency.key)] : []),
    ...(lane ? [keys.laneHeld(lane.name), keys.laneWait(lane.name)] : []),
  ];
}

function argumentsOf(task: NewTask, isUnlimited: boolean): (string | number)[] {
  const { body, lane, idempotency, rateClass, skip } = task;
  const lookups = lookupsOf(body);
  const way = pathOf(task, isUnlimited);
  return [
    body.id,
    idempotency?.digest ?? '',
    skip === null ? rateClass : '',
    lane ? 'lane' : '',
    way,
    bodyText(task),
    way === 'plain' ? task.class : scriptJson(firstState(task)),
    lookups.length,
    ...lookups,
  ];
}

/** What the script is told so that it has to read no more than that; see its header. */
function pathOf({ body, lane, sharedLanes, skip }: NewTask, isUnlimited: boolean): 'plain' | 'skip' | '' {
  if (skip !== null) return 'skip';
  return isUnlimited && !lane && sharedLanes.length === 0 && body.scheduledFor === null && body.deadline === null ? 'plain' : '';
}
