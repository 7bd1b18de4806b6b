import { acceptNewTask } from './accept-new-task.ts';
import type { AcceptAnswer } from './accept-answer.ts';
import type { Ledger } from './ledger.ts';
import type { NewTask } from './new-task.ts';
import { offerMessage } from './offer-message.ts';

/** Accepts a task, by its mode when it meets work in its lane. */
export async function acceptMessage(ledger: Ledger, task: NewTask): Promise<AcceptAnswer> {
  if (!mayMeetOthers(task)) return await acceptNewTask(ledger, task);
  const answer = await offerMessage(ledger, task);
  if (answer.kind === 'refused') throw new Error(`The task ${task.body.id} was refused as input, which it is not`);
  return answer;
}

/** Input goes to its own agent only, so a message in mode `queue` whose agent takes none can do nothing but wait. */
function mayMeetOthers({ mode, lane, takesInput, skip }: NewTask): boolean {
  return mode !== null && lane !== null && skip === null && (mode !== 'queue' || takesInput);
}
