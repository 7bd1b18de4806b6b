import { MusterError } from '../errors/index.ts';
import { type Action, hasEnded } from './action.ts';
import type { ActionStore } from './action-store.ts';

/** Writers that change an action at the same time; each step of a worker is one. */
const MAX_TRIES = 20;

/**
 * Cancels an action: no further step begins, and tasks that it was applied to stay as they are. Returns it as it is now, an ended one
 * unchanged, and null when there is none. Errors: `action.busy`.
 */
export async function cancelAction(store: ActionStore, tenant: string, id: string): Promise<Action | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const stored = await store.find(tenant, id);
    if (!stored) return null;
    const { action } = stored;
    if (hasEnded(action) || action.status === 'cancelling') return action;
    // A worker ends it: it alone knows how far the step under way is.
    const saved = await store.save(stored, { ...action, status: 'cancelling' });
    if (saved) return saved.action;
  }
  throw new MusterError('action.busy', 'The action changes too often to be cancelled now; try again');
}
