import { type AttemptRef, type ExpireAnswer, expireLease, leaseMember, type Ledger, type Loss, readBlame } from '#shared/ledger/index.ts';

/** Of an attempt that was lost with its process: where that was, and what is known of it here. */
export interface Lost extends Omit<Loss, 'blame'> {
  worker: string | undefined;
}

/** Takes an attempt back, by what its process said of its own end while it could. */
export async function loseAttempt(ledger: Ledger, attempt: AttemptRef, { worker, ...loss }: Lost): Promise<ExpireAnswer> {
  const said = worker === undefined ? null : await readBlame(ledger.redis, ledger.keys, worker);
  if (said === null) return await expireLease(ledger, attempt, { ...loss, blame: 'unknown' });
  const message = `${loss.message ?? `The worker ${worker} was lost`}: ${said.message}`;
  if (said.member === null) return await expireLease(ledger, attempt, { ...loss, message, isOwnEnd: true, blame: 'unknown' });
  const isGuilty = said.member === leaseMember(attempt);
  return await expireLease(ledger, attempt, { ...loss, message, blame: isGuilty ? 'guilty' : 'cleared' });
}
