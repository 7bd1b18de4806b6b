import { isEntryBefore, newestTenantEvent } from '#shared/events/index.ts';
import type { EventStream } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { NotificationWriter } from './notification-writer.ts';
import { kindsOf } from './notices-of.ts';
import type { WantedKinds } from './read-kinds.ts';
import { formatPlace, type ReaderPlace } from './reader-place.ts';
import { watchTenant } from './watch-tenant.ts';

export interface NotificationStreamOptions {
  tenant: string;
  kinds: WantedKinds;
  /** How far the reader was told before; null for one that begins now. */
  after: ReaderPlace | null;
}

type StreamParts = Pick<Parts, 'ledger' | 'events' | 'redis' | 'keys' | 'config' | 'log' | 'tenants'>;

/**
 * Tells a reader what happens to its tenant until it is gone or may read no more. The event stream is read, hints only say when,
 * so nothing is lost between what was before and what comes.
 */
export async function writeNotifications(parts: StreamParts, options: NotificationStreamOptions, stream: EventStream): Promise<void> {
  const { tenant, kinds } = options;
  const { commentMs, lookMs } = parts.config.settings.events;
  const isNews = (event: string): boolean => kindsOf(event).some((kind) => kinds.has(kind));
  const watch = watchTenant(parts.events, tenant, isNews, stream.signal);
  try {
    const place = await openStream(parts, options, stream);
    const teller = new NotificationWriter({ parts, tenant, kinds, stream, place });
    let commentAt = performance.now() + commentMs;
    while (!stream.signal.aborted) {
      await teller.tell();
      if (performance.now() >= commentAt) {
        // Much that a reader does not want may come after what it was told last.
        stream.comment(teller.takeUnknownPlace());
        commentAt = performance.now() + commentMs;
      }
      await watch.next(Math.max(0, Math.min(lookMs, commentAt - performance.now())));
    }
  } finally {
    watch.stop();
  }
}

/** Says that the stream is open, and where it begins. */
async function openStream(parts: StreamParts, { tenant, after }: NotificationStreamOptions, stream: EventStream): Promise<ReaderPlace> {
  const newest = await newestTenantEvent(parts, tenant);
  const now = { entry: newest, told: null };
  await stream.send('open', { ok: true }, after === null ? newest : undefined);
  if (after === null) return now;
  if (!isEntryBefore(newest, after.entry)) return after;
  // Redis lost what came between, or the id was made up.
  await stream.send('gap', { from: formatPlace(after), oldest: newest });
  return now;
}
