import { sendCommand } from '../redis/send-command.ts';
import type { Ledger, ScriptName } from './ledger.ts';
import { parseFullState, parseState } from './parse-state.ts';
import { isShort } from './short-state.ts';
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
  if (granted.length > 0) await passOn(ledger, tenant, granted);
  return reply;
}

/** Tells of the tasks that were let through, ids and states in turn. What cannot be told is in the outbox, and the sweep finds it. */
async function passOn(ledger: Ledger, tenant: string, granted: readonly string[]): Promise<void> {
  const tasks = granted.flatMap((id, position) => (position % 2 === 0 ? [{ id, state: granted[position + 1] ?? '' }] : []));
  const bodies = await readBodies(
    ledger,
    tenant,
    tasks.filter(({ state }) => isShort(state)).map(({ id }) => id),
  );
  for (const { id, state } of tasks) {
    const body = bodies.get(id);
    if (!isShort(state)) ledger.onGranted(tenant, id, parseFullState(state));
    else if (body) ledger.onGranted(tenant, id, parseState(state, parseBody(body).first));
  }
}

async function readBodies({ redis, keys }: Ledger, tenant: string, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  try {
    const bodies = (await sendCommand(redis, 'hmget', [keys.tenant(tenant).bodies, ...ids])) as (string | null)[];
    return new Map(ids.flatMap((id, position) => (bodies[position] ? [[id, bodies[position]] as const] : [])));
  } catch {
    // The step itself is done: it must not look as if it had failed.
    return new Map();
  }
}
