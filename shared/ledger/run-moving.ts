import type { Ledger, ScriptName } from './ledger.ts';
import { parseFullState } from './parse-state.ts';

/**
 * Runs a script that may let other tasks of the tenant through. Passes those on to `onGranted` and returns the rest of the reply.
 */
export async function runMoving(
  ledger: Ledger,
  tenant: string,
  ...call: [name: ScriptName, keys: readonly string[], args: readonly (string | number)[]]
): Promise<unknown[]> {
  const [granted, ...reply] = (await ledger.run(...call)) as [string[], ...unknown[]];
  for (let position = 0; position < granted.length; position += 2) {
    ledger.onGranted(tenant, granted[position] ?? '', parseFullState(granted[position + 1] ?? '{}'));
  }
  return reply;
}
