import type { Attention, CheckList } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';

export interface Checks extends Pick<CheckList, 'items' | 'checkedAt'> {
  /** What needs attention besides: the tenant's own, and the load. */
  others: Attention[];
}

/** One after the other: the checks look at what reads much, too. */
export async function readChecks(signal: AbortSignal): Promise<Checks> {
  const checks = await answerOf(api.GET('/v1/checks', { signal }));
  const known = new Set(checks.items.flatMap(({ id }) => id ?? []));
  return { ...checks, others: (await itemsOf(api.GET('/v1/attention', { signal }))).filter(({ id }) => !known.has(id)) };
}
