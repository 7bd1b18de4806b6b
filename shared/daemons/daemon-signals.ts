import { z } from 'zod';
import type { DaemonAddress } from './daemon.ts';
import { type DaemonState, daemonStateSchema } from './daemon-state.ts';
import type { DaemonPorts } from './scripts.ts';

const address = { tenant: z.string(), id: z.string() };

const signalSchema = z.discriminatedUnion('kind', [
  /** Beats of daemons. */
  z.object({ kind: z.literal('states'), states: z.array(z.object({ ...address, state: daemonStateSchema })) }),
  /** A connection ended, and no other took its place. */
  z.object({ kind: z.literal('gone'), ...address, connection: z.string() }),
  /** A registration was changed or removed; without an id, all of the tenant's. */
  z.object({ kind: z.literal('changed'), tenant: z.string(), id: z.string().nullable() }),
]);

/** What processes publish to each other about daemons. */
export type DaemonSignal = z.infer<typeof signalSchema>;

/** Reads a message of `keys.fleet.daemonSignal`; null for what this version does not know. */
export function parseDaemonSignal(message: string): DaemonSignal | null {
  try {
    return signalSchema.safeParse(JSON.parse(message)).data ?? null;
  } catch {
    return null;
  }
}

/** Hubs read the registration again, and close or narrow the daemon's connection. */
export async function publishDaemonChange(ports: DaemonPorts, tenant: string, id: string | null): Promise<void> {
  await publish(ports, { kind: 'changed', tenant, id });
}

export async function publishDaemonStates(ports: DaemonPorts, states: readonly (DaemonAddress & { state: DaemonState })[]): Promise<void> {
  await publish(ports, { kind: 'states', states: [...states] });
}

export async function publishDaemonGone(ports: DaemonPorts, gone: DaemonAddress & { connection: string }): Promise<void> {
  await publish(ports, { kind: 'gone', ...gone });
}

async function publish({ redis, keys }: DaemonPorts, signal: DaemonSignal): Promise<void> {
  await redis.publish(keys.fleet.daemonSignal, JSON.stringify(signal));
}
