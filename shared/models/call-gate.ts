import { randomUUID } from 'node:crypto';
import {
  budgetFailure,
  type SpendAmounts,
  type SpendAnswer,
  type SpendCall,
  type SpendRequest,
  type SpendSubject,
} from '../budgets/index.ts';
import type { Settings } from '../config/index.ts';
import { HeldFailure, type TaskFailure } from '../errors/index.ts';
import { type AttemptRef, leaseMember } from '../ledger/index.ts';
import {
  accountLabel,
  type Admission,
  type CallHold,
  type CallPermit,
  type ProviderAccount,
  type ProviderThrottle,
} from '../providers/index.ts';
import { retryWhileAway } from '../redis/index.ts';
import type { PriorityBand } from '../tasks/index.ts';
import { type CallCircuitPorts, circuitCall, heldByCircuit, releaseProbe, reportEndToCircuit } from './call-circuit.ts';
import type { CircuitAnswer, CircuitCall } from './circuits/circuits.ts';
import type { CallEnd } from './gated-call.ts';
import { timeText } from '../time/index.ts';

export interface GatePorts extends CallCircuitPorts {
  readonly settings: Pick<Settings, 'models' | 'modelCalls' | 'circuits'>;
  readonly spending: Spending;
  readonly throttle: Pick<ProviderThrottle, 'admitCall' | 'reportCall' | 'leave'>;
}

/** Reserves what a call may cost, and counts what it did. */
export interface Spending {
  readonly reserve: (request: SpendRequest, amounts: SpendAmounts) => Promise<SpendAnswer>;
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

/** A call to admit. */
export interface GateRequest {
  readonly account: ProviderAccount;
  readonly model: string;
  /** Of the input, and of the output at most. */
  readonly tokens: number;
  /** What it may cost; 0 where its price is not known. */
  readonly amounts: SpendAmounts;
  /** Budgets whose line it may pass, because they downgrade to its model. */
  readonly beyond: readonly string[];
  /** Whether the attempt called no model before. */
  readonly isFirst: boolean;
  readonly signal: AbortSignal;
}

/** An admitted call. Its caller reports its end. */
export interface AdmittedCall {
  readonly permit: CallPermit;
  readonly circuit: Extract<CircuitAnswer, { kind: 'go' }>;
  readonly spend: SpendCall;
  /** What it may cost, less than requested where its budgets have no more left. */
  readonly amountMicroUsd: number;
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
 * Admits a call when all of its bounds do: the circuit of its agent and endpoint, the throttle of its account and model, and the budgets
 * that count it. They are read at the same time. Waits while Redis is away. Rejects with the signal's reason when it aborts.
 */
export async function admitCall(ports: GatePorts, caller: Caller, request: GateRequest): Promise<GateAnswer> {
  const { account, model, tokens, isFirst, signal } = request;
  const { ref, band, weight } = caller;
  const lease = leaseMember(ref);
  // The same when it is sent again.
  const spending = { id: `${lease}/${randomUUID()}`, lease, subject: caller.subject, beyond: request.beyond };
  const circuited = circuitCall(caller, account.endpoint);
  const asked = await Promise.allSettled([
    retryWhileAway(() => ports.circuits.admit(circuited), { signal }),
    retryWhileAway(() => ports.throttle.admitCall({ account, model, place: ref, band, weight, tokens, isFirst }, signal), { signal }),
    retryWhileAway(() => ports.spending.reserve(spending, request.amounts), { signal }),
  ]);
  const answers = { circuit: valueOf(asked[0]), admission: valueOf(asked[1]), spend: valueOf(asked[2]) };
  const call = admittedBy(answers, signal);
  if (call) return { kind: 'go', call };
  await giveBack(ports, circuited, answers);
  const failed = asked.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
  return refusalOf(ports, request, answers);
}

function admittedBy({ circuit, admission, spend }: Answers, signal: AbortSignal): AdmittedCall | null {
  if (circuit?.kind !== 'go' || admission?.kind !== 'go' || spend?.kind !== 'reserved') return null;
  return { permit: admission.permit, circuit, spend: spend.call, amountMicroUsd: spend.amountMicroUsd, signal };
}

function refusalOf(ports: GatePorts, request: GateRequest, { circuit, admission, spend }: Answers): GateAnswer {
  if (spend?.kind === 'exceeded') return { kind: 'refused', failure: budgetFailure(spend), downgrade: downgradeOf(spend) };
  if (circuit?.kind === 'wait') return { kind: 'held', failure: heldByCircuit(ports, request.account.endpoint, circuit), isWalled: false };
  if (admission?.kind !== 'wait') throw new Error('An admitted call was refused');
  return { kind: 'held', failure: heldByProvider(request, admission), isWalled: admission.because === 'wall' };
}

function valueOf<T>(asked: PromiseSettledResult<T>): T | null {
  return asked.status === 'fulfilled' ? asked.value : null;
}

/** What a call was answered; null where it got no answer. */
interface Answers {
  circuit: CircuitAnswer | null;
  admission: Admission | null;
  spend: SpendAnswer | null;
}

/** A refused call releases what it got: money, a permit, and the trial of a circuit. */
async function giveBack(ports: GatePorts, call: CircuitCall, { circuit, admission, spend }: Answers): Promise<void> {
  const isHeldByProvider = circuit?.kind === 'go' && spend?.kind === 'reserved';
  await Promise.all([
    circuit?.kind === 'go' ? releaseProbe(ports, call, circuit) : undefined,
    admission && !isHeldByProvider ? releaseAdmission(ports, admission) : undefined,
    spend?.kind === 'reserved' ? ports.spending.settle(spend.call, 0).catch(settleFailed(ports)) : undefined,
  ]);
}

async function releaseAdmission({ throttle }: GatePorts, admission: Admission): Promise<void> {
  if (admission.kind === 'go') await throttle.reportCall(admission.permit, { tokens: 0 });
  else await throttle.leave(admission.place);
}

/** Ends an attempt whose task waits for a provider. An attempt that goes on otherwise leaves the place. */
export class HeldByProvider extends HeldFailure {
  readonly place: CallHold['place'];

  constructor(
    code: string,
    message: string,
    { place, ...options }: ConstructorParameters<typeof HeldFailure>[2] & Pick<CallHold, 'place'>,
  ) {
    super(code, message, options);
    this.place = place;
  }
}

/** What a call that has to wait for its provider, or that it refused, means for its attempt. The refusal is the cause. */
function heldByProvider(
  { account, model }: Pick<CallPermit, 'account' | 'model'>,
  { because, untilMs, hold, holdMs, place }: CallHold,
  refusal?: TaskFailure,
): HeldFailure {
  const isWalled = because === 'wall';
  const name = accountLabel(account);
  const text = isWalled ? `${name} takes no calls of ${model}` : `${name} has no room for a call of ${model}`;
  const message = `${text} until ${timeText(untilMs)} (${refusal?.message ?? because})`;
  return new HeldByProvider(isWalled ? 'PROVIDER_QUOTA' : 'THROTTLED', message, {
    hold,
    place,
    retryAfterMs: holdMs,
    cause: refusal,
    wasSent: refusal !== undefined,
  });
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
    ports.throttle.reportCall(permit, {
      ...end.answer,
      tokens: inputTokens + outputTokens,
      sentAt: end.startedAt,
      beganAfterMs: end.beganAfterMs ?? 0,
    }),
    retryWhileAway(() => ports.spending.settle(spend, end.costMicroUsd ?? 0), { mayRetry: () => !signal.aborted }).catch(
      settleFailed(ports),
    ),
    reportEndToCircuit(ports, { call: circuitCall(caller, permit.account.endpoint), circuit }, end),
  ]);
  if (hold && end.failure === null) await ports.throttle.leave(hold.place);
  return hold && end.failure && heldByProvider(permit, hold, end.failure);
}

function settleFailed({ log }: GatePorts): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'the cost of a model call could not be counted');
}

function downgradeOf({ atHard, downgradeTo, budget }: Extract<SpendAnswer, { kind: 'exceeded' }>): Downgrade | null {
  return atHard === 'downgrade' && downgradeTo !== null ? { model: downgradeTo, budget: budget.id } : null;
}
