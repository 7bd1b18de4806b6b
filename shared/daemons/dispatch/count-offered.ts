import { isLeft, type TicketResult } from '../../queue/index.ts';
import { wait } from '../../time/index.ts';

/** This process's part of what the fleet may run at once. */
export interface FleetCount {
  /** Counts an attempt that runs here, until the function that it returns is called. `from`: who counted it before. */
  adopt(from: string | null): () => void;
  /** An attempt that counts here goes on elsewhere, and counts until another process counts it. */
  leave(): void;
  /** Whether what this hub or worker holds counts: not any more once it is gone. */
  stands(worker: string): Promise<boolean>;
}

interface OfferOptions {
  count: FleetCount;
  /** The hub or worker that offered the task. */
  from: string;
  /** Whether its slot, and so its permit, is kept for the task. */
  keepsSlot: boolean;
  /** Between two checks whether it is there, ms. */
  everyMs: number;
}

/** Sees to it that an offered task counts once while it runs: with the hub that offered it, or here once that hub is gone or keeps no slot for it. */
export async function countOffered(running: Promise<TicketResult>, options: OfferOptions): Promise<TicketResult> {
  const ended = new AbortController();
  let release: (() => void) | undefined;
  const follow = async (): Promise<void> => {
    if (options.keepsSlot) await untilGone(options, ended.signal);
    if (!ended.signal.aborted) release = options.count.adopt(options.keepsSlot ? options.from : null);
  };
  void follow();
  try {
    const result = await running;
    if (release && isLeft(result)) options.count.leave();
    return result;
  } finally {
    ended.abort();
    release?.();
  }
}

async function untilGone({ count, from, everyMs }: OfferOptions, signal: AbortSignal): Promise<void> {
  while (await wait(everyMs, signal)) {
    // While Redis is away, nothing is known of that hub.
    if (!(await count.stands(from).catch(() => true))) return;
  }
}
