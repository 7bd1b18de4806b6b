import type { Clock } from '../time/index.ts';
import { ActionStep, type RunParts } from './action-step.ts';
import { ActionStore } from './action-store.ts';

/**
 * Runs steps of the actions that are due, of each action one by one and of all in turn, for about `forMs`. A step that is under way when
 * its worker dies is repeated by another worker once its lease ran out.
 */
export async function runActions(parts: RunParts, clock: Clock, forMs: number): Promise<void> {
  const store = new ActionStore(parts.ledger);
  const until = clock.monotonic() + forMs;
  let isBusy = true;
  while (isBusy && clock.monotonic() < until) {
    isBusy = false;
    for (let shard = 0; shard < parts.ledger.keys.shards; shard += 1) {
      const heldUntil = clock.monotonic() + parts.ledger.settings.actions.leaseMs;
      const taken = await store.take(shard);
      if (!taken) continue;
      isBusy = true;
      await new ActionStep({ parts, store, clock, heldUntil }, taken).run();
    }
  }
}
