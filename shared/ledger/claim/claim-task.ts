import { sendCommand } from '../../redis/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import { contextKeys, contextOptions, laneKeys, type TaskPlace } from '../script-context.ts';
import type { Ledger } from '../ledger.ts';
import { parseState } from '../codec/state.ts';
import { runGranting, scriptFailure } from '../script-calls.ts';
import { parseBody, type StoredBody } from '../codec/body.ts';

/**
 * - `claimed`: run it, under `state.token`; `stored` is the state as the ledger keeps it, for `settleAttempt`
 * - `suspect`: a process was lost under it, and this one holds other tasks; a process for suspects may claim it
 * - `parked`: it waits for its time, its lane or its caps, and gets another ticket then
 * - `busy`, `ended`, `unknown`: nothing to do for this ticket
 */
export type ClaimAnswer =
  | { kind: 'claimed'; body: StoredBody; state: TaskState; stored: string }
  | { kind: 'suspect'; losses: number }
  | { kind: 'parked' | 'busy' | 'ended' | 'unknown' };

type ClaimReply = ClaimAnswer | { kind: 'lane'; lane: string };

/**
 * What a process is to tasks under which one was lost before. `shared` and `own`: it holds only such tasks, or a single one. `offered`
 * and `full`: it holds others, and has such a process for them, or none now; then they wait.
 */
export type ClaimIsolation = 'own' | 'shared' | 'offered' | 'full';

/** Claims a task for a worker, for `leaseMs` milliseconds. Without `isolation` it claims suspects like any other. */
export async function claimTask(ledger: Ledger, place: TaskPlace, worker: string, isolation?: ClaimIsolation): Promise<ClaimAnswer> {
  const claim = ledger.batched<TaskPlace, ClaimReply>(
    'claim',
    (tenant, places) => claimBatch(ledger, tenant, places, { worker, isolation }),
    `${worker} ${isolation}`,
  );
  const answer = await claim(place.tenant, place);
  if (answer.kind !== 'lane') return answer;
  // It got a lane after its ticket was made, and keeps it.
  const again = await claim(place.tenant, { ...place, lane: answer.lane });
  if (again.kind === 'lane') throw new Error(`The task ${place.id} changed its lane`);
  return again;
}

interface Claimer {
  worker: string;
  isolation: ClaimIsolation | undefined;
}

async function claimBatch(ledger: Ledger, tenant: string, places: TaskPlace[], claimer: Claimer): Promise<(ClaimReply | Error)[]> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const [bodies, replies] = await Promise.all([
    sendCommand(ledger.redis, 'hmget', [ledger.keys.tenant(tenant).bodies, ...places.map(({ id }) => id)]),
    runGranting(
      ledger,
      tenant,
      'claim-tasks',
      [...contextKeys(ledger, tenant), shard.leases, shard.deadlines, shard.ended, shard.due, ...laneKeys(ledger, tenant, places)],
      [
        JSON.stringify({
          ...contextOptions(ledger, tenant),
          isolation: claimer.isolation,
          suspectWaitMs: ledger.settings.worker.suspectDelayMs,
        }),
        claimer.worker,
        ledger.settings.worker.leaseMs,
        places.map(({ lane }) => (lane === null ? 0 : 1)).join(''),
        ...places.map(({ id }) => id),
      ],
    ),
  ]);
  const texts = replies as string[];
  return (bodies as (string | null)[]).map((body, position) => claimAnswer(texts[position * 2] ?? '', texts[position * 2 + 1] ?? '', body));
}

function claimAnswer(kind: string, detail: string, bodyText: string | null): ClaimReply | Error {
  if (kind === 'failed') return scriptFailure(detail, 'a task could not be claimed');
  if (kind === 'claimed') {
    if (bodyText === null) return new Error('A task was claimed that nobody has accepted');
    const body = parseBody(bodyText);
    return { kind, body, state: parseState(detail, body.first), stored: detail };
  }
  if (kind === 'suspect') return { kind, losses: Number(detail) };
  if (kind === 'lane') return { kind, lane: detail };
  return { kind: kind as 'parked' | 'busy' | 'ended' | 'unknown' };
}
