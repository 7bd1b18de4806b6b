import type { Settings } from '../config/index.ts';
import { HeldFailure, type TaskFailure } from '../errors/index.ts';
import { type AttemptRef, leaseMember } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import type { CallPermit, ProviderAccount, ProviderThrottle } from '../providers/index.ts';
import { retryWhileAway } from '../redis/index.ts';
import type { PriorityBand } from '../tasks/index.ts';
import type { CircuitAnswer, CircuitCall, Circuits } from './circuits/circuits.ts';
import { isEndpointAway, isEndpointFailure } from './call-failure.ts';
import type { CallEnd } from './gated-call.ts';

export interface GatePorts {
  readonly settings: Pick<Settings, 'models' | 'modelCalls' | 'circuits'>;
  readonly circuits: Pick<Circuits, 'admit' | 'report'>;
  readonly throttle: Pick<ProviderThrottle, 'admitCall' | 'reportCall'>;
  readonly log: Log;
}

/** The attempt that calls models. */
export interface Caller {
  readonly ref: AttemptRef;
  readonly agent: string;
  readonly band: PriorityBand;
  /** Of its tenant, among others that wait for a provider. */
  readonly weight: number;
}

/** A call that wants to go. */
export interface GateRequest {
  readonly account: ProviderAccount;
  readonly model: string;
  /** Of the input, and of the output at most. */
  readonly tokens: number;
  /** Whether the attempt called no model before. */
  readonly isFirst: boolean;
  readonly signal: AbortSignal;
}

/** A call that may go. Whoever has it reports its end. */
export interface AdmittedCall {
  readonly permit: CallPermit;
  readonly circuit: Extract<CircuitAnswer, { kind: 'go' }>;
}

/** `walled`: the provider takes no calls of this model for a longer time, so that another one may be called instead. */
export type GateAnswer = { kind: 'go'; call: AdmittedCall } | { kind: 'held'; failure: HeldFailure; isWalled: boolean };

/**
 * Asks whatever a call has to pass: the circuit of its agent and endpoint, and the throttle of its account and model, at the same time.
 * Waits while Redis is away. Rejects with the signal's reason when it aborts.
 */
export async function admitCall(ports: GatePorts, caller: Caller, request: GateRequest): Promise<GateAnswer> {
  const { account, model, tokens, isFirst, signal } = request;
  const { ref, band, weight } = caller;
  const [circuit, admission] = await Promise.all([
    retryWhileAway(() => ports.circuits.admit(circuitCall(caller, account)), { signal }),
    retryWhileAway(() => ports.throttle.admitCall({ account, model, place: ref, band, weight, tokens, isFirst }, signal), { signal }),
  ]);
  if (circuit.kind === 'wait') {
    if (admission.kind === 'go') await ports.throttle.reportCall(admission.permit, { tokens: 0 });
    return { kind: 'held', failure: heldByCircuit(account, circuit, ports.settings.circuits.maxHoldMs), isWalled: false };
  }
  if (admission.kind === 'go') return { kind: 'go', call: { permit: admission.permit, circuit } };
  const { because, hold, holdMs, untilMs } = admission;
  const until = new Date(untilMs).toISOString();
  const text = because === 'wall' ? `${account.name} takes no calls of ${model}` : `${account.name} has no room for a call of ${model}`;
  const code = because === 'wall' ? 'PROVIDER_QUOTA' : 'THROTTLED';
  const failure = new HeldFailure(code, `${text} until ${until} (${because})`, { hold, retryAfterMs: holdMs });
  return { kind: 'held', failure, isWalled: because === 'wall' };
}

/** Counts the end of an admitted call with its throttle and its circuit. Never rejects. */
export async function reportEnd(ports: GatePorts, caller: Caller, { permit, circuit }: AdmittedCall, end: CallEnd): Promise<void> {
  const { inputTokens, outputTokens } = end.usage;
  await Promise.all([
    ports.throttle.reportCall(permit, { ...end.answer, tokens: inputTokens + outputTokens }),
    reportEndToCircuit(ports, circuitCall(caller, permit.account), circuit, end),
  ]);
}

async function reportEndToCircuit(
  ports: GatePorts,
  call: CircuitCall,
  { isKnown }: AdmittedCall['circuit'],
  { failure, isAborted }: CallEnd,
): Promise<void> {
  if (isAborted) return;
  const hasFailed = failure !== null && isEndpointFailure(failure);
  // An answer matters only where calls failed before it.
  if (!hasFailed && !isKnown) return;
  try {
    await ports.circuits.report(call, hasFailed ? failure.message : null);
  } catch (error) {
    ports.log.debug({ err: error }, 'the end of a call was not counted by its circuit');
  }
}

function circuitCall({ ref, agent }: Caller, { endpoint }: ProviderAccount): CircuitCall {
  return { tenant: ref.tenant, agent, endpoint, caller: leaseMember(ref) };
}

/**
 * What a failed call means for its attempt. A task that tried an open circuit for all spends nothing while the endpoint is away; a failure
 * that may be its own counts, so that it does not keep the circuit open.
 */
export function failureOfProbe(ports: GatePorts, { permit, circuit }: AdmittedCall, failure: TaskFailure): TaskFailure {
  if (!circuit.isProbe || !isEndpointAway(failure)) return failure;
  const hold = { gate: 'circuit', what: circuit.name } as const;
  const { endpoint } = permit.account;
  const message = `${endpoint} is still away: ${failure.message}`;
  return new HeldFailure(failure.code, message, { hold, retryAfterMs: ports.settings.circuits.maxHoldMs });
}

function heldByCircuit(
  { endpoint }: ProviderAccount,
  { failures, reason, hold }: Extract<CircuitAnswer, { kind: 'wait' }>,
  maxHoldMs: number,
): HeldFailure {
  const message = `${endpoint} failed ${failures} times in a row (${reason}), and one call at a time tries it again`;
  return new HeldFailure('PROVIDER_ERROR', message, { hold, retryAfterMs: maxHoldMs });
}
