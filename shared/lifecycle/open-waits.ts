import type { Intake } from '../queue/index.ts';
import { setQuestion } from '../sessions/index.ts';
import { listQuestion, offerEvents, startSubTasks, type WaitHandlers } from '../waits/index.ts';

/** What is done when a run begins to wait, by the kind of its wait. */
export function openWaits(intake: Intake): WaitHandlers {
  const { ledger } = intake;
  return {
    event: (wait) => offerEvents(ledger, wait),
    question: async ({ body: { tenant, session }, state }) => {
      const id = state.hold?.what ?? '';
      await listQuestion(ledger, tenant, id);
      if (session !== null) await setQuestion(ledger, tenant, session, id);
    },
    delegate: (wait) => startSubTasks(intake, wait),
  };
}
