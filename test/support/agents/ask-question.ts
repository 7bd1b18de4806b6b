import type { AttemptRef } from '#shared/ledger/claim/leases.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { redisNow } from '#shared/redis/replies.ts';
import { questionId } from '#shared/waits/questions/question.ts';
import { seeToWait } from '#shared/waits/see-to-wait.ts';

export interface AskedHere {
  question: string;
  /** By default it is answered in words. */
  choices?: string[];
  /** Its number in the journal, by default 2. */
  seq?: number;
  /** By default now. */
  askedAt?: number;
}

/** Has the run of an attempt ask people, as a worker does. It leaves its lane soon. Returns the question's id. */
export async function askQuestion(parts: Parts, attempt: AttemptRef, { question, choices, seq = 2, askedAt }: AskedHere): Promise<string> {
  const { ledger } = parts;
  const asked = { question, choices: choices ?? null, schema: null, to: null, by: 'anyone' as const };
  const what = questionId(attempt.id, seq, asked);
  const startedAt = askedAt ?? (await redisNow(ledger.redis));
  const entry = { seq, kind: 'question', name: question, status: 'waiting', attempt: 1, startedAt, wait: JSON.stringify(asked) } as const;
  const wait = { hold: { gate: 'question', what }, entry, until: null, holdLaneMs: 1 } as const;
  await settleAttempt(ledger, attempt, { kind: 'suspended', reason: 'it asks', wait });
  await seeToWait(parts, { tenant: attempt.tenant, id: attempt.id, entry: seq });
  return what;
}
