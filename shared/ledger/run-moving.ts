import type { Ledger, ScriptName } from './ledger.ts';
import { parseFullState, parseState } from './parse-state.ts';
import { parseBody } from './stored-body.ts';

/**
 * Runs a script that may let other tasks of the tenant through. Passes those on to `onGranted` and returns the rest of the reply.
 */
export async function runMoving(
  ledger: Ledger,
  tenant: string,
  ...call: [name: ScriptName, keys: readonly string[], args: readonly (string | number)[]]
): Promise<unknown[]> {
  const [granted, ...reply] = (await ledger.run(...call)) as [string[], ...unknown[]];
  for (let position = 0; position < granted.length; position += 3) {
    const [id = '', state = '{}', body = ''] = granted.slice(position, position + 3);
    ledger.onGranted(tenant, id, body === '' ? parseFullState(state) : parseState(state, parseBody(body).first));
  }
  return reply;
}
