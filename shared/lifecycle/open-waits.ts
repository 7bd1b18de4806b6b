import { addRequest } from '../agents/index.ts';
import type { SpendPorts } from '../budgets/index.ts';
import type { Intake } from '../queue/index.ts';
import { openQuestion, openReply } from '../deliveries/index.ts';
import {
  lineUpQuestion,
  listQuestion,
  noteReminder,
  offerEvents,
  questionAwaited,
  startSubTasks,
  type WaitHandlers,
} from '../waits/index.ts';

/** What is done when a run begins to wait, by the kind of its wait. */
export function openWaits(intake: Intake, spending: SpendPorts): WaitHandlers {
  const { ledger, log } = intake;
  return {
    event: async (wait) => {
      await offerEvents(ledger, wait);
      return null;
    },
    question: async ({ body: { id: task, tenant, session, reply, callbackUrl }, state, entry }) => {
      const id = questionAwaited(state) ?? '';
      await listQuestion(ledger, tenant, id);
      await noteReminder(ledger, tenant, id, entry.startedAt);
      if (session !== null) await lineUpQuestion(ledger, tenant, session, id);
      if (callbackUrl !== null) await openQuestion(intake, { tenant, task }, entry.startedAt);
      // The reply of a schedule's run is opened at its end otherwise.
      if (reply !== null) await openReply(intake, tenant, task);
      return null;
    },
    batch: addRequest({ ...spending, log }),
    delegate: (wait) => startSubTasks(intake, wait),
  };
}
