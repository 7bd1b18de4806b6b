import type { TaskQueue } from '../../config/index.ts';
import { sendCommand } from '../../redis/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import { failuresOf, runByTenant, scriptFailure } from '../batches.ts';
import { contextKeys, laneKeys, runInContexts, shardGroup, shardKeys, type TaskPlace, type TenantCall } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { parseState } from '../codec/state.ts';
import { parseBody, type StoredBody } from '../codec/body.ts';
import type { HandedOver } from './take-ready.ts';

/**
 * - `claimed`: run it, under `state.token`; `stored` is the state as the ledger keeps it, for `settleAttempt`
 * - `overtaken`: a better ticket of its queue is ready; only with `order`
 * - `suspect`: a process was lost under it, and this one holds other tasks; a process for suspects may claim it
 * - `parked`: it waits for its time, its lane or its caps, and gets another ticket then
 * - `busy`, `ended`, `unknown`: nothing to do for this ticket
 */
export type ClaimAnswer =
  | ({ kind: 'claimed' } & ClaimedTask)
  | { kind: 'suspect'; losses: number }
  | { kind: 'overtaken' | 'parked' | 'busy' | 'ended' | 'unknown' };

export interface ClaimedTask {
  body: StoredBody;
  state: TaskState;
  stored: string;
}

type ClaimReply = ClaimAnswer | { kind: 'lane'; lane: string };

/**
 * What a process is to tasks under which one was lost before. `shared` and `own`: it holds only such tasks, or a single one. `offered`
 * and `full`: it holds others, and has such a process for them, or none now; then they wait.
 */
export type ClaimIsolation = 'own' | 'shared' | 'offered' | 'full';

/** One ticket's claim, and the process that it is for. */
interface Claim extends TaskPlace, ClaimOptions {
  worker: string;
}

/** What the slot that takes a ticket knows of it. */
export interface TicketClaim {
  /** The task, when `takeReady` claimed it with its ticket. */
  claimed?: HandedOver | undefined;
  /** The entry in the outbox of a ticket from `takeReady`. */
  entry?: string | undefined;
  /** Whether its queue shares its slots, so that BullMQ has to have tickets of each queue for comparison. */
  isShared?: boolean | undefined;
  /** Of a slot that takes what is ready instead of a worse ticket from BullMQ: its queue, and the key that has BullMQ's pause of it. */
  order?: { queue: TaskQueue; pauses: string } | undefined;
}

interface ClaimOptions extends TicketClaim {
  /** Without it, suspects are claimed like any other. */
  isolation?: ClaimIsolation | undefined;
  /** The daemon that runs the task for a worker that is a hub, by id. */
  daemon?: string | undefined;
}

/** Claims a task for a worker, for `leaseMs` milliseconds. */
export async function claimTask(ledger: Ledger, place: TaskPlace, worker: string, options: ClaimOptions = {}): Promise<ClaimAnswer> {
  const claim = { ...place, ...options, worker };
  const answer = await batchClaim(ledger, claim);
  if (answer.kind === 'claimed') ledger.pace.note(answer.state.queue);
  if (answer.kind !== 'lane') return answer;
  // A task that got a lane after its ticket was made keeps it.
  const again = await batchClaim(ledger, { ...claim, lane: answer.lane });
  if (again.kind === 'lane') throw new Error(`The task ${place.id} changed its lane`);
  return again;
}

async function batchClaim(ledger: Ledger, claim: Claim): Promise<ClaimReply> {
  const { tenant, worker, isolation, daemon, entry, isShared, order } = claim;
  const group = [shardGroup(ledger, tenant), worker, isolation, daemon, entry === undefined, isShared, order?.pauses].join(' ');
  return await ledger.batches.add({ ledger, run: claimTasks, group }, claim);
}

/** Claims tasks of tenants of one shard for one process. */
async function claimTasks(ledger: Ledger, claims: readonly Claim[]): Promise<(ClaimReply | Error)[]> {
  return await runByTenant(
    claims,
    ({ tenant }) => tenant,
    async (parts) => {
      const [bodies, replies] = await Promise.all([
        readBodies(ledger, parts),
        runInContexts(
          ledger,
          'claim-tasks',
          parts.map((own) => claimCall(ledger, own)),
        ),
      ]);
      return parts.map((own, at) => answersOf(own, replies[at], bodies[at] ?? []));
    },
  );
}

/** The part of one tenant. */
function claimCall(ledger: Ledger, claims: readonly Claim[]): TenantCall {
  const { tenant = '', worker = '' } = claims[0] ?? {};
  const shard = shardKeys(ledger, tenant);
  const { leaseMs, suspectDelayMs } = ledger.settings.worker;
  return {
    tenant,
    keys: [
      ...contextKeys(ledger, tenant),
      shard.leases,
      shard.deadlines,
      shard.ended,
      shard.due,
      claims[0]?.order?.pauses ?? shard.window,
      ...laneKeys(ledger, tenant, claims),
    ],
    options: { ...claimOptions(claims), suspectWaitMs: suspectDelayMs },
    args: [worker, leaseMs, claims.map(({ lane }) => (lane === null ? 0 : 1)).join(''), ...claims.map(({ id }) => id)],
  };
}

/** The bodies of the tasks of each tenant. They never change, so that they are read beside the claim. */
async function readBodies(ledger: Ledger, parts: readonly (readonly Claim[])[]): Promise<readonly (string | null)[][]> {
  const bodiesOf = (claims: readonly Claim[]): string => ledger.keys.tenant(claims[0]?.tenant ?? '').bodies;
  const [first, second] = parts;
  if (first && !second) return [(await sendCommand(ledger.redis, 'hmget', [bodiesOf(first), ...first.map(({ id }) => id)])) as string[]];
  const keys = parts.flatMap((claims) => claims.map(() => bodiesOf(claims)));
  const ids = parts.flatMap((claims) => claims.map(({ id }) => id));
  const bodies = ((await ledger.run('read-bodies', keys, ids)) as (string | null)[]).values();
  return parts.map((claims) => claims.map(() => bodies.next().value ?? null));
}

function answersOf(
  claims: readonly Claim[],
  replies: unknown[] | Error | undefined,
  bodies: readonly (string | null)[],
): (ClaimReply | Error)[] {
  if (replies === undefined || replies instanceof Error) return failuresOf(claims, replies, 'a task could not be claimed');
  const texts = replies as string[];
  return claims.map((_, at) => claimAnswer(texts[at * 2] ?? '', texts[at * 2 + 1] ?? '', bodies[at] ?? null));
}

function claimOptions(claims: readonly Claim[]): Record<string, unknown> {
  const { isolation, daemon, entry, isShared, order } = claims[0] ?? {};
  return {
    isolation,
    daemon,
    ...(entry === undefined ? {} : { entries: claims.map((claim) => claim.entry) }),
    ...(isShared === true ? { direct: false } : {}),
    ...(order === undefined ? {} : { queue: order.queue }),
  };
}

function claimAnswer(kind: string, detail: string, bodyText: string | null): ClaimReply | Error {
  if (kind === 'failed') return scriptFailure(detail, 'a task could not be claimed');
  if (kind === 'claimed') {
    if (bodyText === null) return new Error('A task was claimed that was never accepted');
    const body = parseBody(bodyText);
    return { kind, body, state: parseState(detail, body.first), stored: detail };
  }
  if (kind === 'suspect') return { kind, losses: Number(detail) };
  if (kind === 'lane') return { kind, lane: detail };
  return { kind: kind as 'overtaken' | 'parked' | 'busy' | 'ended' | 'unknown' };
}
