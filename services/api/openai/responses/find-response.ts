import { MusterError } from '#shared/errors/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { ResponsePlace } from '#shared/tasks/index.ts';
import { responseOf } from '../ids.ts';
import { readAnswer, type RunAnswer } from '../output/run-answer.ts';

/** The tenant's response. Errors: `task.not-found`, also for another tenant's, and for one that was not to be found afterwards. */
export async function findResponse(ledger: Ledger, tenant: string, id: string): Promise<RunAnswer> {
  const found = await lookForResponse(ledger, tenant, responseOf(id));
  if (!found) throw new MusterError('task.not-found', `Response with id '${id.slice(0, 100)}' not found.`);
  return found;
}

/** The same; null for none. */
export async function lookForResponse(ledger: Ledger, tenant: string, place: ResponsePlace | null): Promise<RunAnswer | null> {
  const answer = place && (await readAnswer(ledger, { tenant, id: place.task, part: place.part }));
  const { request } = answer?.task.body ?? {};
  return request?.kind === 'response' && request.isHidden !== true ? answer : null;
}
