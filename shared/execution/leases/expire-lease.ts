import { routeOfFailure } from '../../errors/index.ts';
import {
  type AttemptEnd,
  type AttemptRef,
  type JournalProgress,
  leaseMember,
  type Ledger,
  readBlame,
  settleExpired,
} from '../../ledger/index.ts';
import { isRedisUnavailable } from '../../redis/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import { recordLostAttempt } from '../attempt/attempt-span.ts';
import { countEnd } from '../count-attempt.ts';
import { decideLoss, type Loss } from '../decide-retry.ts';

/** `requeued`: the task goes on, at once or after a while. `held`: the lease stands. `gone`: it is not this attempt's any more. */
type ExpireAnswer = 'requeued' | 'ended' | 'held' | 'gone';

/** How an attempt was lost. */
interface LostLease extends Loss {
  /** Whether the process is known to have ended, so that its lease does not count any more. */
  isGone?: boolean | undefined;
}

/** Takes an attempt back when its lease ran out, or when its process has ended. */
export async function expireLease(ledger: Ledger, attempt: AttemptRef, lost: LostLease = { blame: 'unknown' }): Promise<ExpireAnswer> {
  const decide = (running: TaskState, journal: JournalProgress | null): AttemptEnd =>
    decideLoss(running, { ...lost, journal }, ledger.settings);
  const answer = await settleExpired(ledger, attempt, { decide, isGone: lost.isGone ?? false });
  if (typeof answer === 'string') return answer;
  countEnd(ledger, attempt.tenant, answer.running, { ...answer, ranMs: null });
  await recordLostAttempt(ledger, { ...attempt, ...answer });
  return answer.transition.continuation === 'end' ? 'ended' : 'requeued';
}

/** What a process leaves when it ends. */
interface LostProcess extends Omit<LostLease, 'blame'> {
  /** Its name. */
  worker: string | undefined;
}

/** The same with the culprit that the process named while it still could. */
export async function expireOfProcess(ledger: Ledger, attempt: AttemptRef, { worker, ...lost }: LostProcess): Promise<ExpireAnswer> {
  const named = worker === undefined ? null : await readBlame(ledger.redis, ledger.keys, worker);
  if (named === null) return await expireLease(ledger, attempt, { ...lost, blame: 'unknown' });
  const message = `${lost.message ?? `The worker ${worker} was lost`}: ${named.message}`;
  if (named.member === null) return await expireLease(ledger, attempt, { ...lost, message, isOwnEnd: true, blame: 'unknown' });
  const isGuilty = named.member === leaseMember(attempt);
  return await expireLease(ledger, attempt, { ...lost, message, blame: isGuilty ? 'guilty' : 'cleared' });
}

interface AgentSource {
  findAgent: (tenant: string, id: string) => Promise<{ retries?: Parameters<typeof routeOfFailure>[1] } | null>;
}

/** What follows a lost worker as the task's agent says; nothing where that is the fleet's decision. */
export async function routeOfLoss({ findAgent }: AgentSource, tenant: string, state: TaskState | null): Promise<Pick<Loss, 'route'>> {
  if (state === null) return {};
  const definition = await findAgent(tenant, state.agent).catch((error: unknown) => {
    if (isRedisUnavailable(error)) throw error;
    return null;
  });
  const route = routeOfFailure('WORKER_LOST', definition?.retries);
  return route === 'retry' ? {} : { route };
}
