import { sendCommand } from '../redis/send-command.ts';
import type { TaskState } from '../tasks/task.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { parseState } from './parse-state.ts';
import { runMoving } from './run-moving.ts';
import { scriptFailure } from './script-failure.ts';
import { parseBody, type StoredBody } from './stored-body.ts';
import { bookKeys, laneKeys, type TaskPlace } from './task-keys.ts';

/**
 * - `claimed`: run it, under `state.token`; `stored` is the state as the ledger keeps it, for `settleAttempt`
 * - `early`: not before `dueAt` (ms since the epoch, by Redis's clock)
 * - `full`: as many attempts run in the fleet as may
 * - `parked`: it waits in its lane or backlog again and gets another ticket
 * - `busy`, `ended`, `unknown`: nothing to do for this ticket
 */
export type ClaimAnswer =
  | { kind: 'claimed'; body: StoredBody; state: TaskState; stored: string }
  | { kind: 'early'; dueAt: number }
  | { kind: 'full' | 'parked' | 'busy' | 'ended' | 'unknown' };

type ClaimReply = ClaimAnswer | { kind: 'lane'; lane: string };

/** Claims a task for a worker, for `leaseMs` milliseconds. */
export async function claimTask(ledger: Ledger, place: TaskPlace, worker: string): Promise<ClaimAnswer> {
  const claim = ledger.batched<TaskPlace, ClaimReply>('claim', (tenant, places) => claimBatch(ledger, tenant, places, worker), worker);
  const answer = await claim(place.tenant, place);
  if (answer.kind !== 'lane') return answer;
  // It got a lane after its ticket was made, and keeps it.
  const again = await claim(place.tenant, { ...place, lane: answer.lane });
  if (again.kind === 'lane') throw new Error(`The task ${place.id} changed its lane`);
  return again;
}

async function claimBatch(ledger: Ledger, tenant: string, places: TaskPlace[], worker: string): Promise<(ClaimReply | Error)[]> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const [bodies, replies] = await Promise.all([
    sendCommand(ledger.redis, 'hmget', [ledger.keys.tenant(tenant).bodies, ...places.map(({ id }) => id)]),
    runMoving(
      ledger,
      tenant,
      'claim-tasks',
      [...bookKeys(ledger, tenant), shard.leases, shard.deadlines, shard.ended, ...laneKeys(ledger, tenant, places)],
      [
        JSON.stringify(bookOptions(ledger, tenant)),
        worker,
        ledger.settings.worker.leaseMs,
        concurrencyOfShard(ledger),
        places.map(({ lane }) => (lane === null ? 0 : 1)).join(''),
        ...places.map(({ id }) => id),
      ],
    ),
  ]);
  const texts = replies as string[];
  return (bodies as (string | null)[]).map((body, position) => readAnswer(texts[position * 2] ?? '', texts[position * 2 + 1] ?? '', body));
}

function readAnswer(kind: string, detail: string, bodyText: string | null): ClaimReply | Error {
  if (kind === 'failed') return scriptFailure(detail, 'a task could not be claimed');
  if (kind === 'claimed') {
    if (bodyText === null) return new Error('A task was claimed that nobody has accepted');
    const body = parseBody(bodyText);
    return { kind, body, state: parseState(detail, body.first), stored: detail };
  }
  if (kind === 'lane') return { kind, lane: detail };
  if (kind === 'early') return { kind, dueAt: Number(detail) };
  return { kind: kind as 'full' | 'parked' | 'busy' | 'ended' | 'unknown' };
}

/** Attempts that may run at once in a shard. A script sees one shard, so each has its share of the fleet's. */
export function concurrencyOfShard(ledger: Ledger): number {
  return Math.max(1, Math.floor(ledger.settings.limits.maxConcurrent / ledger.keys.shards));
}
