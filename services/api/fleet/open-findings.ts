import { FindingList } from '#shared/findings/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { LoadReader } from '#shared/queue/index.ts';
import { openScheduleParts } from '#shared/schedules/index.ts';

/** The list of findings, as this process looks at it. */
export function openFindings(parts: Parts): FindingList {
  const { redis, keys, ledger, queues, budgets, log } = parts;
  return new FindingList({ redis, keys, ledger, queues, budgets, log, scheduling: openScheduleParts(parts), loads: new LoadReader(parts) });
}
