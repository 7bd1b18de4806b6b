import { MusterError } from '../errors/muster-error.ts';
import { owedBy, readAccept, type AcceptAnswer, type AcceptReply } from './accept-answer.ts';
import { admissionOptions } from './admission-options.ts';
import { stopChannel } from './cancel-task.ts';
import { firstState } from './first-state.ts';
import type { Ledger } from './ledger.ts';
import { lookupsOf } from './lookups-of.ts';
import type { NewTask } from './new-task.ts';
import { runInTurn } from './run-in-turn.ts';
import { runMoving } from './run-moving.ts';
import { bookKeys } from './task-keys.ts';

export type OfferAnswer = AcceptAnswer | { kind: 'refused'; why: 'not-running' | 'takes-no-input' };

/** Each try but the last found others in the lane than the one before it; other processes offer messages to it as well. */
const TRIES = 30;

/**
 * Accepts a message of a lane by its mode, or, with `target`, as input for that running task. Which other tasks this touches is
 * known only inside of the script, which needs the keys of their records: so it is tried until it meets those it was told of.
 * Errors: `unavailable.lane-busy`.
 */
export async function offerMessage(ledger: Ledger, task: NewTask, target?: string): Promise<OfferAnswer> {
  const lane = `${task.body.tenant}/${task.lane?.name}`;
  // One after the other within this process, or they would make each other try again.
  return await runInTurn(ledger, lane, async () => {
    let known: readonly string[] = target === undefined ? [] : [target];
    for (let tries = 0; tries < TRIES; tries += 1) {
      const reply = await offerOnce(ledger, task, known, target);
      if (reply.kind !== 'moved') return reply;
      known = reply.ids;
    }
    throw new MusterError('unavailable.lane-busy', `Too many messages come to lane ${task.lane?.name} at once`);
  });
}

type OfferReply = OfferAnswer | { kind: 'moved'; ids: string[] };

async function offerOnce(ledger: Ledger, task: NewTask, known: readonly string[], target: string | undefined): Promise<OfferReply> {
  const { tenant, id } = task.body;
  const [entry, depth, reply] = (await runMoving(
    ledger,
    tenant,
    'offer-message',
    keysOf(ledger, task, known),
    argumentsOf(ledger, task, known, target),
  )) as [string, number, AcceptReply];
  const [kind, first] = reply;
  if (kind === 'moved') return { kind, ids: first as string[] };
  if (kind === 'refused') return { kind, why: first as 'not-running' | 'takes-no-input' };
  const answer = readAccept(id, reply, depth, owedBy(tenant, entry));
  if (answer instanceof Error) throw answer;
  return answer;
}

function keysOf(ledger: Ledger, { body, lane, idempotency }: NewTask, known: readonly string[]): string[] {
  const keys = ledger.keys.tenant(body.tenant);
  const shard = ledger.keys.shard(ledger.keys.shardOf(body.tenant));
  return [
    ...bookKeys(ledger, body.tenant),
    keys.rates,
    shard.deadlines,
    shard.ended,
    shard.leases,
    shard.signals,
    keys.task(body.id),
    keys.idempotency(idempotency?.key ?? ''),
    keys.laneHeld(lane?.name ?? ''),
    keys.laneWait(lane?.name ?? ''),
    ...known.map((other) => keys.task(other)),
  ];
}

function argumentsOf(ledger: Ledger, task: NewTask, known: readonly string[], target: string | undefined): (string | number)[] {
  const { body, idempotency, rateClass } = task;
  return [
    admissionOptions(ledger, body.tenant),
    ledger.settings.tasks.idempotencyMs,
    body.id,
    idempotency?.digest ?? '',
    rateClass,
    JSON.stringify(body),
    JSON.stringify(firstState(task)),
    rulesOf(ledger, body.tenant, target),
    JSON.stringify(lookupsOf(body)),
    ...known,
  ];
}

/** What the configuration says about messages that meet others. */
function rulesOf({ settings, keys }: Ledger, tenant: string, target: string | undefined): string {
  const { collect, carryInterrupted } = settings.routing.queue;
  return JSON.stringify({
    grace: settings.worker.cancelGraceMs,
    stops: stopChannel(keys.shard(keys.shardOf(tenant)).signal),
    carries: carryInterrupted,
    collect: { debounceMs: collect.debounceMs, longestWaitMs: collect.longestWaitMs },
    cap: collect.cap,
    overflow: collect.overflow,
    ...(target === undefined ? {} : { target }),
  });
}
