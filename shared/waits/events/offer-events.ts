import { z } from 'zod';
import { answerRuns, type Ledger, readHadEvents } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import type { RunningWait } from '../see-to-wait.ts';
import { isFitting } from './event-line.ts';
import { closeEvent, keptEvents } from './kept-events.ts';
import { withEvent } from './send-event.ts';

const waitSchema = z.object({ match: z.record(z.string(), z.unknown()) });

/** What an event has to have for a run that waits at this entry. */
export function matchOf({ wait }: { wait?: string | undefined }): Record<string, unknown> {
  return wait === undefined ? {} : waitSchema.parse(JSON.parse(wait)).match;
}

/** Resumes a run that begins to wait for an event by the oldest that is kept, fits, and was not its own before. */
export async function offerEvents(ledger: Ledger, { body: { tenant, id }, entry }: RunningWait): Promise<void> {
  const match = matchOf(entry);
  const { keepMs } = ledger.settings.events;
  for await (const page of keptEvents(ledger, tenant, entry.name)) {
    const kept = page.filter((event) => entry.startedAt <= event.at + keepMs && isFitting(event, entry.name, match));
    const had = await readHadEvents(ledger, { tenant, id }, kept);
    for (const event of kept) {
      if (had.has(event.id) || (event.deliver === 'one' && event.isTaken)) continue;
      const answer = { id, entry: withEvent(entry, event, await redisNow(ledger.redis)) };
      const [done] = await answerRuns(ledger, tenant, [answer], event.id);
      if (done?.kind !== 'promoted') continue;
      if (event.deliver === 'one') await closeEvent(ledger, tenant, event);
      return;
    }
  }
}
