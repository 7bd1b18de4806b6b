import { changePriority, type PriorityAnswer, readState } from '../ledger/index.ts';
import { capClass, type PriorityInput, priorityNumber, queueFor } from '../tasks/index.ts';
import type { Intake } from './intake.ts';
import type { Queues } from './queues.ts';
import { ticketId } from './ticket.ts';
import { ticketOfState } from './ticket-of-state.ts';

/**
 * Changes the priority of a task that does not run, and with it the queue it waits in. One that holds a ticket gets a new
 * one at its new place.
 */
export async function reprioritizeTask(
  { ledger, relay, queues }: Pick<Intake, 'ledger' | 'relay'> & { readonly queues: Queues },
  tenant: string,
  id: string,
  priority: PriorityInput,
): Promise<PriorityAnswer> {
  const state = await readState(ledger, tenant, id);
  if (!state) return { kind: 'gone' };
  const number = priorityNumber(priority);
  const answer = await changePriority(ledger, tenant, id, {
    priority: number,
    queue: queueFor(state.source, priority),
    class: capClass(state.source, number),
  });
  if (answer.kind === 'changed' && answer.state.granted) {
    relay.add(ticketOfState(tenant, id, answer.state));
    // Left where it is, the old ticket would start the task at its old place. One that a worker has taken meanwhile stays.
    await queues
      .get(ledger.keys.shardOf(tenant), state.queue)
      .remove(ticketId(id, state.ticket))
      .catch(() => 0);
  }
  return answer;
}
