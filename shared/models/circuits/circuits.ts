import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Settings } from '../../config/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import { type Keys, loadScripts, type RedisClient, runGathered, type Script, scriptJson } from '../../redis/index.ts';

export interface CircuitPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Pick<Settings, 'circuits' | 'events'>;
}

/** What has a circuit: an agent of a tenant, and the endpoint that it calls. */
export interface CircuitPlace {
  readonly tenant: string;
  readonly agent: string;
  /** The origin of its address. */
  readonly endpoint: string;
}

/** The attempt that calls, and its circuit. */
export interface CircuitCall extends CircuitPlace {
  /** Names the attempt in the fleet. */
  readonly caller: string;
}

export type CircuitAnswer =
  | {
      kind: 'go';
      /** Whether calls failed there before, so that an answer changes something. */
      isKnown: boolean;
      /** Whether this call tries an open circuit. */
      isProbe: boolean;
      /** Of the circuit. */
      name: string;
    }
  | {
      kind: 'wait';
      /** When the next call may try the endpoint, by Redis's clock, ms. */
      untilMs: number;
      /** Calls that failed in a row. */
      failures: number;
      reason: string;
      hold: TaskHold;
    };

const circuitSchema = z.object({
  /** Calls that failed in a row. */
  failures: z.int(),
  /** Why the last one did. */
  reason: z.string().optional(),
  openedAt: z.number().optional(),
  /** When the next call may try again; absent unless it is open. */
  probeAt: z.number().optional(),
  /** The attempt that tries it now. */
  probe: z.string().optional(),
});
export type Circuit = z.infer<typeof circuitSchema>;

const SCRIPTS = loadScripts(fileURLToPath(new URL('../scripts', import.meta.url)));

/** Names a circuit among those of its tenant, and what it holds. */
function circuitName({ agent, endpoint }: Pick<CircuitPlace, 'agent' | 'endpoint'>): string {
  return `${agent} ${endpoint}`;
}

/** Circuits is responsible for the circuits of this process's calls, which the fleet shares. */
export class Circuits {
  readonly #ports: CircuitPorts & { log: Log };

  constructor(ports: CircuitPorts & { log: Log }) {
    this.#ports = ports;
  }

  /**
   * Whether a call is admitted. Reads only, as long as no call of the agent failed at that endpoint. A call that may try an open circuit again
   * has to report its end.
   */
  admit(call: CircuitCall): Promise<CircuitAnswer> {
    return admitByCircuit(this.#ports, call);
  }

  /** Releases the trial of an open circuit that was not made or was stopped: another call may try it at once. */
  release(call: CircuitCall): Promise<void> {
    return releaseFromCircuit(this.#ports, call);
  }

  /** Counts the end of a call: an answer, or the reason why the endpoint gave none. People are notified when the circuit opens or closes. */
  report(call: CircuitCall, reason: string | null): Promise<void> {
    return reportToCircuit(this.#ports, call, reason);
  }
}

async function admitByCircuit(ports: CircuitPorts, call: CircuitCall): Promise<CircuitAnswer> {
  const { circuits } = ports.keys.tenant(call.tenant);
  const name = circuitName(call);
  const [kind, until, failures, , reason] = await run<(string | undefined)[]>(
    ports,
    'admit-circuit',
    [circuits],
    [name, call.caller, ports.settings.circuits.probeMs],
  );
  if (kind !== 'wait') return { kind: 'go', isKnown: kind !== 'go', isProbe: kind === 'probe', name };
  return { kind, untilMs: Number(until), failures: Number(failures), reason: reason ?? '', hold: { gate: 'circuit', what: name } };
}

async function releaseFromCircuit(ports: CircuitPorts, call: CircuitCall): Promise<void> {
  const { keys } = ports;
  const name = circuitName(call);
  const { circuitsDue } = keys.shard(keys.shardOf(call.tenant));
  await run(ports, 'release-circuit', [keys.tenant(call.tenant).circuits, circuitsDue], [`${call.tenant}/${name}`, name, call.caller]);
}

async function reportToCircuit(ports: CircuitPorts & { log: Log }, call: CircuitCall, reason: string | null): Promise<void> {
  const { keys, settings, log } = ports;
  const { tenant, agent, endpoint } = call;
  const { failures, openMs, maxOpenMs, retentionMs, maxRecords } = settings.circuits;
  const own = keys.tenant(tenant);
  const { circuitsDue, signal } = keys.shard(keys.shardOf(tenant));
  const events = { tenant, channel: signal, maxEvents: settings.events.maxPerTenant };
  const changed = await run<string>(
    ports,
    'report-circuit',
    [own.circuits, circuitsDue, own.events],
    [
      JSON.stringify({ ...events, failures, openMs, maxOpenMs, retentionMs, maxRecords }),
      circuitName(call),
      call.caller,
      reason ?? '',
      scriptJson({ agent, endpoint }),
    ],
  );
  if (changed === 'opened') log.warn({ event: 'circuit.opened', tenant, agent, endpoint, reason }, 'an endpoint failed too often in a row');
  if (changed === 'closed') log.info({ event: 'circuit.closed', tenant, agent, endpoint }, 'an endpoint answers again');
}

/** Has the next call of a task try an open circuit at once, also where another tries it now: a person wants to know. */
export async function tryCircuitBy(ports: CircuitPorts, { tenant, id, name }: { tenant: string; id: string; name: string }): Promise<void> {
  const { circuits } = ports.keys.tenant(tenant);
  await run(ports, 'give-probe', [circuits], [name, `${tenant}/${id}`, ports.settings.circuits.probeMs]);
}

/** One circuit of a tenant as it is now; null when none of its calls failed lately. */
export async function readCircuit(
  { redis, keys }: Pick<CircuitPorts, 'redis' | 'keys'>,
  tenant: string,
  name: string,
): Promise<Circuit | null> {
  const stored = await redis.hget(keys.tenant(tenant).circuits, name);
  return stored === null ? null : circuitSchema.parse(JSON.parse(stored));
}

/** How long a closed circuit is checked for tasks that it refused and that were held only then. */
const GRACE_MS = 30_000;

interface DueCircuit {
  tenant: string;
  name: string;
  held: number;
}

/** Which of the tasks that a circuit holds may start now. */
export async function checkCircuit(ports: CircuitPorts, { tenant, name, held }: DueCircuit): Promise<'all' | 'one' | 'none'> {
  const { keys, settings } = ports;
  const { probeMs, retentionMs } = settings.circuits;
  const { circuitsDue } = keys.shard(keys.shardOf(tenant));
  const args = [`${tenant}/${name}`, name, held, probeMs, retentionMs, GRACE_MS];
  return await run(ports, 'check-circuit', [keys.tenant(tenant).circuits, circuitsDue], args);
}

async function run<Reply>({ redis }: Pick<CircuitPorts, 'redis'>, name: string, keys: string[], args: (string | number)[]): Promise<Reply> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await runGathered(redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
}
