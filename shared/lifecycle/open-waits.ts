import type { Ledger } from '../ledger/index.ts';
import { listQuestion, offerEvents, type WaitHandlers } from '../waits/index.ts';

/** What is done when a run begins to wait, by the kind of its wait. */
export function openWaits({ ledger }: { readonly ledger: Ledger }): WaitHandlers {
  return {
    event: (wait) => offerEvents(ledger, wait),
    question: async ({ body, state }) => await listQuestion(ledger, body.tenant, state.hold?.what ?? ''),
  };
}
