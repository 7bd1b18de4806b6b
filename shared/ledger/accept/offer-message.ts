import { scriptJson } from '../../redis/index.ts';
import { bodyText, firstState } from '../codec/body.ts';
import { contextKeys, runInContext, shardKeys } from '../context.ts';
import { costOf } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { lookupsOf } from '../read/lookups.ts';
import { parseOpenCancel } from '../settle/open-cancels.ts';
import { type AcceptAnswer, type AcceptReply, ticketsOf, readAcceptReply } from './accept-answer.ts';
import { type NewTask, parentText, repeatText, submissionLimits } from './new-task.ts';

export type OfferAnswer = AcceptAnswer | { kind: 'refused'; why: 'not-running' | 'takes-no-input' };

/**
 * Accepts a message of a lane by its mode, or, with `target`, as input for that running task. What it stops is stopped with its sub-tasks,
 * whose cancels go to `onOpenCancel`.
 */
export async function offerMessage(ledger: Ledger, task: NewTask, target?: string): Promise<OfferAnswer> {
  const { tenant, id } = task.body;
  const [entry, depth, reply, open] = (await runInContext(ledger, {
    script: 'offer-message',
    tenant,
    keys: keysOf(ledger, task),
    options: submissionLimits(ledger, tenant),
    args: argumentsOf(ledger, task, target),
  })) as [string, number, AcceptReply, string[]];
  for (const each of open) ledger.onOpenCancel?.(parseOpenCancel(each));
  const [kind, first] = reply;
  if (kind === 'refused') return { kind, why: first as 'not-running' | 'takes-no-input' };
  const answer = readAcceptReply(id, reply, depth, ticketsOf(tenant, entry));
  if (answer instanceof Error) throw answer;
  return answer;
}

function keysOf(ledger: Ledger, { body, lane, idempotency }: NewTask): string[] {
  const keys = ledger.keys.tenant(body.tenant);
  const shard = shardKeys(ledger, body.tenant);
  return [
    ...contextKeys(ledger, body.tenant),
    keys.rates,
    shard.deadlines,
    shard.ended,
    shard.leases,
    shard.signals,
    keys.idempotency(idempotency?.key ?? ''),
    keys.laneHeld(lane?.name ?? ''),
    keys.laneWait(lane?.name ?? ''),
    shard.due,
    shard.tenantStates,
    shard.slas,
    keys.repeats(body.source, body.agent),
    shard.openCancels,
  ];
}

function argumentsOf(ledger: Ledger, task: NewTask, target: string | undefined): (string | number)[] {
  const { body, idempotency, rateClass } = task;
  const first = firstState(task, costOf(ledger, task));
  return [
    ledger.settings.tasks.idempotencyMs,
    body.id,
    idempotency?.digest ?? '',
    rateClass,
    bodyText(task, first),
    scriptJson(first),
    rulesOf(ledger, task, target),
    scriptJson(lookupsOf(body)),
    target === undefined ? repeatText(task) : '',
    parentText(task),
  ];
}

/** The configuration of messages that meet others. */
function rulesOf({ settings }: Ledger, { body: { scheduleId }, arrival, mode }: NewTask, target: string | undefined): string {
  const { collect, carryInterrupted } = settings.routing.queue;
  const gathers = mode === 'interrupt' && arrival !== undefined;
  return JSON.stringify({
    grace: settings.worker.cancelGraceMs,
    reason: `a newer ${scheduleId === null ? 'message' : 'run'} took its place`,
    // A run of a schedule has the same input as the run that it replaces.
    carries: carryInterrupted && scheduleId === null,
    collect: { debounceMs: gathers ? arrival.debounceMs : collect.debounceMs, longestWaitMs: collect.longestWaitMs },
    cap: collect.cap,
    overflow: collect.overflow,
    ...(gathers ? { arrival: { sentAt: arrival.sentAt, lateAfterMs: arrival.lateAfterMs } } : {}),
    ...(target === undefined ? {} : { target }),
  });
}
