import { scriptJson } from '../redis/index.ts';
import type { Task } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import { lookupsOf } from './lookups-of.ts';

/** Removes an ended task and all its lookups. Returns whether it did. */
export async function forgetTask(ledger: Ledger, { body, state }: Pick<Task, 'body' | 'state'>): Promise<boolean> {
  const keys = ledger.keys.tenant(body.tenant);
  const members = [...lookupsOf(body), `status=${state.status}`].map((lookup) => `${lookup}/${body.id}`);
  const removed = await ledger.run(
    'forget-task',
    [keys.states, keys.bodies, keys.outputs, keys.results, keys.attempts, keys.index, keys.output(body.id), keys.log(body.id)],
    [body.id, scriptJson(members)],
  );
  return removed === 1;
}
