import type { Settings } from '../config/index.ts';
import { HeldFailure, type TaskFailure } from '../errors/index.ts';
import { type AttemptRef, leaseMember } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import { isEndpointAway, isEndpointBroken } from './call-failure.ts';
import type { CircuitAnswer, CircuitCall, Circuits } from './circuits/circuits.ts';
import type { CallEnd } from './gated-call.ts';

export interface CallCircuitPorts {
  readonly settings: Pick<Settings, 'circuits'>;
  readonly circuits: Pick<Circuits, 'admit' | 'report' | 'release'>;
  readonly log: Log;
}

type Admitted = Extract<CircuitAnswer, { kind: 'go' }>;

/** What a circuit reads of the end of a call. */
export type CircuitEnd = Pick<CallEnd, 'failure' | 'isAborted' | 'isTimedOut' | 'silentMs'>;

/** What a call is for the circuit of its agent and endpoint. */
export function circuitCall({ ref, agent }: { ref: AttemptRef; agent: string }, endpoint: string): CircuitCall {
  return { tenant: ref.tenant, agent, endpoint, caller: leaseMember(ref) };
}

/** Counts the end of an admitted call for its circuit, or releases the place of a call that proved nothing. Never rejects. */
export async function reportEndToCircuit(
  ports: CallCircuitPorts,
  { call, circuit }: { call: CircuitCall; circuit: Admitted },
  end: CircuitEnd,
): Promise<void> {
  const failure = failureForCircuit(ports, end);
  if (end.isAborted && failure === null) return await releaseProbe(ports, call, circuit);
  // An answer matters only where calls failed before it.
  if (failure === null && !circuit.isKnown) return;
  await uncounted(ports, ports.circuits.report(call, failure));
}

/** Releases the trial of an open circuit that was not made or was stopped, so that another call may try. Never rejects. */
export async function releaseProbe(ports: CallCircuitPorts, call: CircuitCall, { isProbe }: Admitted): Promise<void> {
  if (isProbe) await uncounted(ports, ports.circuits.release(call));
}

async function uncounted({ log }: CallCircuitPorts, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.debug({ err: error }, 'the end of a call was not counted by its circuit');
  }
}

/** Why the endpoint failed; null where it did not, or is not to blame. An endpoint that hangs is stopped by a timeout. */
function failureForCircuit({ settings }: CallCircuitPorts, { failure, isTimedOut, silentMs }: CircuitEnd): string | null {
  if (failure !== null) return isEndpointBroken(failure) ? failure.message : null;
  return isTimedOut && silentMs >= settings.circuits.silenceMs ? `nothing came for ${Math.round(silentMs)} ms` : null;
}

/**
 * What a failed call means for its attempt. A task that tried an open circuit spends no attempt while the endpoint is away; a failure
 * that may be its own counts, so that it does not keep the circuit open.
 */
export function failureOfProbe(
  ports: CallCircuitPorts,
  { endpoint, circuit }: { endpoint: string; circuit: Admitted },
  failure: TaskFailure,
): TaskFailure {
  if (!circuit.isProbe || !isEndpointAway(failure)) return failure;
  const hold = { gate: 'circuit', what: circuit.name } as const;
  const message = `${endpoint} is still away: ${failure.message}`;
  return new HeldFailure(failure.code, message, { hold, retryAfterMs: ports.settings.circuits.maxHoldMs, wasSent: true });
}

/** Why the attempt of a call that its circuit refused is held. */
export function heldByCircuit(
  { settings }: CallCircuitPorts,
  endpoint: string,
  { failures, reason, hold }: Extract<CircuitAnswer, { kind: 'wait' }>,
): HeldFailure {
  const message = `${endpoint} failed ${failures} times in a row (${reason}), and one call at a time tries it again`;
  return new HeldFailure('PROVIDER_ERROR', message, { hold, retryAfterMs: settings.circuits.maxHoldMs });
}
