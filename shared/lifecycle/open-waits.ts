import type { Ledger } from '../ledger/index.ts';
import { setQuestion } from '../sessions/index.ts';
import { listQuestion, offerEvents, type WaitHandlers } from '../waits/index.ts';

/** What is done when a run begins to wait, by the kind of its wait. */
export function openWaits({ ledger }: { readonly ledger: Ledger }): WaitHandlers {
  return {
    event: (wait) => offerEvents(ledger, wait),
    question: async ({ body: { tenant, session }, state }) => {
      const id = state.hold?.what ?? '';
      await listQuestion(ledger, tenant, id);
      if (session !== null) await setQuestion(ledger, tenant, session, id);
    },
  };
}
