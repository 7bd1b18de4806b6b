import { randomUUID } from 'node:crypto';
import { budgetFailure, type SpendAnswer, type SpendCall, type SpendRequest, type SpendSubject } from '../budgets/index.ts';
import type { Settings } from '../config/index.ts';
import { HeldFailure, type TaskFailure } from '../errors/index.ts';
import { type AttemptRef, leaseMember } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import type { CallHold, CallPermit, ProviderAccount, ProviderThrottle } from '../providers/index.ts';
import { retryWhileAway } from '../redis/index.ts';
import type { PriorityBand } from '../tasks/index.ts';
import type { CircuitAnswer, CircuitCall, Circuits } from './circuits/circuits.ts';
import { isEndpointAway, isEndpointFailure } from './call-failure.ts';
import type { CallEnd } from './gated-call.ts';

export interface GatePorts {
  readonly settings: Pick<Settings, 'models' | 'modelCalls' | 'circuits'>;
  readonly circuits: Pick<Circuits, 'admit' | 'report'>;
  readonly spending: Spending;
  readonly throttle: Pick<ProviderThrottle, 'admitCall' | 'reportCall'>;
  readonly log: Log;
}

/** Reserves what a call may cost, and counts what it did. */
export interface Spending {
  readonly reserve: (request: SpendRequest, maxMicroUsd: number) => Promise<SpendAnswer>;
  readonly settle: (call: SpendCall, costMicroUsd: number) => Promise<unknown>;
}

/** The attempt that calls models. */
export interface Caller {
  readonly ref: AttemptRef;
  readonly agent: string;
  /** Whose spending its calls are. */
  readonly subject: SpendSubject;
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
  /** What it costs at most, in millionths of a US dollar; 0 where its price is not known. */
  readonly maxMicroUsd: number;
  /** Budgets whose line it may pass, because they downgrade to its model. */
  readonly beyond: readonly string[];
  /** Whether the attempt called no model before. */
  readonly isFirst: boolean;
  readonly signal: AbortSignal;
}

/** A call that may go. Whoever has it reports its end. */
export interface AdmittedCall {
  readonly permit: CallPermit;
  readonly circuit: Extract<CircuitAnswer, { kind: 'go' }>;
  readonly spend: SpendCall;
  readonly signal: AbortSignal;
}

export type GateAnswer =
  | { kind: 'go'; call: AdmittedCall }
  /** `isWalled`: the provider takes no calls of this model for a longer time, so that another one may be called instead. */
  | { kind: 'held'; failure: HeldFailure; isWalled: boolean }
  /** A budget has no room for it; it may have some for the other model. */
  | { kind: 'refused'; failure: TaskFailure; downgrade: Downgrade | null };

/** What a used up budget leaves. */
export interface Downgrade {
  model: string;
  /** Whose line its calls may pass. */
  budget: string;
}

/**
 * Asks whatever a call has to pass, at the same time: the circuit of its agent and endpoint, the throttle of its account and model, and the
 * budgets that count it. Waits while Redis is away. Rejects with the signal's reason when it aborts.
 */
export async function admitCall(ports: GatePorts, caller: Caller, request: GateRequest): Promise<GateAnswer> {
  const { account, model, tokens, isFirst, signal } = request;
  const { ref, band, weight } = caller;
  const lease = leaseMember(ref);
  // The same when it is sent again.
  const spending = { id: `${lease}/${randomUUID()}`, lease, subject: caller.subject, beyond: request.beyond };
  const [circuit, admission, spend] = await Promise.all([
    retryWhileAway(() => ports.circuits.admit(circuitCall(caller, account)), { signal }),
    retryWhileAway(() => ports.throttle.admitCall({ account, model, place: ref, band, weight, tokens, isFirst }, signal), { signal }),
    retryWhileAway(() => ports.spending.reserve(spending, request.maxMicroUsd), { signal }),
  ]);
  if (circuit.kind === 'go' && admission.kind === 'go' && spend.kind === 'reserved')
    return { kind: 'go', call: { permit: admission.permit, circuit, spend: spend.call, signal } };
  if (admission.kind === 'go') await ports.throttle.reportCall(admission.permit, { tokens: 0 });
  if (spend.kind === 'reserved') await ports.spending.settle(spend.call, 0);
  else return { kind: 'refused', failure: budgetFailure(spend), downgrade: downgradeOf(spend) };
  if (circuit.kind === 'wait') {
    return { kind: 'held', failure: heldByCircuit(account, circuit, ports.settings.circuits.maxHoldMs), isWalled: false };
  }
  if (admission.kind === 'go') throw new Error('A call that may go was refused');
  return { kind: 'held', failure: heldByProvider(request, admission), isWalled: admission.because === 'wall' };
}

/** What a call that has to wait for its provider, or that it refused, means for its attempt. The refusal is the cause. */
function heldByProvider(
  { account, model }: Pick<CallPermit, 'account' | 'model'>,
  { because, untilMs, hold, holdMs }: CallHold,
  refusal?: TaskFailure,
): HeldFailure {
  const isWalled = because === 'wall';
  const text = isWalled ? `${account.name} takes no calls of ${model}` : `${account.name} has no room for a call of ${model}`;
  const message = `${text} until ${new Date(untilMs).toISOString()} (${refusal?.message ?? because})`;
  return new HeldFailure(isWalled ? 'PROVIDER_QUOTA' : 'THROTTLED', message, { hold, retryAfterMs: holdMs, cause: refusal });
}

/**
 * Counts the end of an admitted call with its throttle, its circuit and its budgets. Resolves with the failure that holds its task when the
 * provider takes no calls for a while. Never rejects.
 */
export async function reportEnd(
  ports: GatePorts,
  caller: Caller,
  { permit, circuit, spend, signal }: AdmittedCall,
  end: CallEnd & { costMicroUsd: number | null },
): Promise<HeldFailure | null> {
  const { inputTokens, outputTokens } = end.usage;
  const [hold] = await Promise.all([
    ports.throttle.reportCall(permit, { ...end.answer, tokens: inputTokens + outputTokens }),
    retryWhileAway(() => ports.spending.settle(spend, end.costMicroUsd ?? 0), { mayRetry: () => !signal.aborted }).catch((error: unknown) =>
      ports.log.error({ err: error }, 'the cost of a model call could not be counted'),
    ),
    reportEndToCircuit(ports, circuitCall(caller, permit.account), circuit, end),
  ]);
  return hold && end.failure && heldByProvider(permit, hold, end.failure);
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

function downgradeOf({ atHard, downgradeTo, budget }: Extract<SpendAnswer, { kind: 'exceeded' }>): Downgrade | null {
  return atHard === 'downgrade' && downgradeTo !== null ? { model: downgradeTo, budget: budget.id } : null;
}
