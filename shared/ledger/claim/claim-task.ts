import type { TaskState } from '../../tasks/index.ts';
import { scriptFailure } from '../batches.ts';
import { parseBody, type StoredBody } from '../codec/body.ts';
import { parseState } from '../codec/state.ts';
import { contextKeys, laneKeys, runInContext, shardKeys, type TaskPlace } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { type HandedOver, isObstacle } from './claim-for-slots.ts';
import { runClaim } from './run-claim.ts';

/**
 * - `claimed`: run it, under `state.token`; `stored` is the state as the ledger keeps it, for `settleAttempt`
 * - `suspect`: a process was lost under it, and this one holds other tasks; a process for suspects may claim it
 * - `parked`: it waits for its time, its lane or its caps, and gets another ticket then
 * - `busy`, `ended`, `unknown`: nothing to do for this ticket
 */
export type ClaimAnswer =
  | ({ kind: 'claimed' } & ClaimedTask)
  | { kind: 'suspect'; losses: number }
  | { kind: 'parked' | 'busy' | 'ended' | 'unknown' };

export interface ClaimedTask {
  body: StoredBody;
  state: TaskState;
  stored: string;
}

/**
 * What a process is to tasks under which one was lost before. `shared` and `own`: it holds only such tasks, or a single one. `offered`
 * and `full`: it holds others, and has such a process for them, or none now; then they wait.
 */
export type ClaimIsolation = 'own' | 'shared' | 'offered' | 'full';

/** What the slot that got a ticket knows of its task. */
export interface TicketClaim {
  /** The task, when it was started with its ticket. */
  claimed?: HandedOver | undefined;
}

interface ClaimOptions {
  /** Without it, suspects are claimed like any other. */
  isolation?: ClaimIsolation | undefined;
  /** The daemon that runs the task for a worker that is a hub, by id. */
  daemon?: string | undefined;
}

/** Claims a task whose ticket was taken before: by a hub for its daemon, or for a process of suspects. */
export async function claimTask(ledger: Ledger, place: TaskPlace, worker: string, options: ClaimOptions = {}): Promise<ClaimAnswer> {
  const claimed = await startGiven(ledger, place, worker, options);
  if (claimed) return claimed;
  const reviewed = await reviewTask(ledger, place, options.isolation);
  if (reviewed !== 'ready') return reviewed;
  return (await startGiven(ledger, place, worker, options)) ?? { kind: 'parked' };
}

/** Starts a task if nothing holds it back; else null. */
async function startGiven(
  ledger: Ledger,
  { tenant, id }: TaskPlace,
  worker: string,
  { isolation, daemon }: ClaimOptions,
): Promise<Extract<ClaimAnswer, { kind: 'claimed' }> | null> {
  const { tickets } = await runClaim(ledger, {
    shard: ledger.keys.shardOf(tenant),
    worker,
    keys: [],
    queues: [],
    options: { isolation, daemon },
    count: 0,
    given: [`${tenant}/${id}`],
    drawn: [],
    ended: [],
  });
  const [found] = tickets;
  if (found === undefined || isObstacle(found.state)) return null;
  const body = parseBody(found.body);
  return { kind: 'claimed', body, state: parseState(found.state, body.first), stored: found.state };
}

/**
 * Moves a task that a slot got and could not start to where it belongs. `ready`: nothing holds it back, and it stands at `slot` again under
 * its next ticket.
 */
export async function reviewTask(
  ledger: Ledger,
  place: TaskPlace,
  isolation?: ClaimIsolation,
): Promise<'ready' | Exclude<ClaimAnswer, { kind: 'claimed' }>> {
  const { tenant, id, lane } = place;
  const shard = shardKeys(ledger, tenant);
  const [kind = '', detail = ''] = (await runInContext(ledger, {
    script: 'review-tasks',
    tenant,
    keys: [...contextKeys(ledger, tenant), shard.deadlines, shard.ended, shard.due, ...laneKeys(ledger, tenant, [place])],
    options: { isolation, suspectWaitMs: ledger.settings.worker.suspectDelayMs },
    args: [lane === null ? 0 : 1, id],
  })) as string[];
  if (kind === 'failed') throw scriptFailure(detail, 'a task could not be looked at');
  if (kind === 'ready') return kind;
  if (kind === 'suspect') return { kind, losses: Number(detail) };
  if (kind !== 'lane') return { kind: kind as 'parked' | 'busy' | 'ended' | 'unknown' };
  if (detail === lane) throw new Error(`The task ${id} changed its lane`);
  // A task that got a lane after its ticket was made keeps it.
  return await reviewTask(ledger, { ...place, lane: detail }, isolation);
}
