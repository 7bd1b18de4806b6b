import { MusterError } from '../errors/index.ts';
import { unreadable } from '../redis/index.ts';
import type { FirstState, TaskState } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import { parseFullState, parseState } from './parse-state.ts';

/** States that one call to Redis reads; it answers no other caller meanwhile. */
const BATCH = 500;

/**
 * The states of a tenant's tasks by their ids, in their order; null where there is none, or none that can be read. Reads neither inputs nor outputs, so it is
 * the way to look at tasks again and again.
 */
export async function readStates(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(TaskState | null)[]> {
  const found = await readStatesOrErrors(ledger, tenant, ids);
  return found.map((state) => (state instanceof MusterError ? null : state));
}

/** The same with `record.unreadable` in the place of one that cannot be read, for those who act on what is gone. */
export async function readStatesOrErrors(
  ledger: Ledger,
  tenant: string,
  ids: readonly string[],
): Promise<(TaskState | MusterError | null)[]> {
  const { states, bodies } = ledger.keys.tenant(tenant);
  const found: (TaskState | MusterError | null)[] = [];
  for (let from = 0; from < ids.length; from += BATCH) {
    const batch = ids.slice(from, from + BATCH);
    const texts = (await ledger.run('read-states', [states, bodies], batch)) as string[];
    for (const [position, id] of batch.entries()) found.push(toState(id, texts[position * 2] ?? '', texts[position * 2 + 1] ?? ''));
  }
  return found;
}

/** The state of one task, or null. Errors: `record.unreadable`. */
export async function readState(ledger: Ledger, tenant: string, id: string): Promise<TaskState | null> {
  const [state = null] = await readStatesOrErrors(ledger, tenant, [id]);
  if (state instanceof MusterError) throw state;
  return state;
}

function toState(id: string, text: string, first: string): TaskState | MusterError | null {
  if (text === '') return null;
  try {
    return first === '' ? parseFullState(text) : parseState(text, JSON.parse(first) as FirstState);
  } catch (error) {
    return unreadable(id, error);
  }
}
