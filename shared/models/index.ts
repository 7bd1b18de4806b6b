/**
 * The gateway of model calls: every call of an attempt passes through it, waits for what it has to pass, is counted once, and settled
 * before the attempt ends. With it the circuits, which hold the tasks of agents whose endpoints fail again and again, models or not.
 */
export type { AttemptAccount } from './attempt-account.ts';
export type { AttemptModels } from './attempt-models.ts';
export { callCostOf, warnOfBudget } from './call-costs.ts';
export { answerIn } from './call-answer.ts';
export type { CallUsage } from './call-meter.ts';
export type { EndpointRequests } from './circuits/endpoint-requests.ts';
export { circuitKind } from './circuits/explain-circuit.ts';
export { releaseCircuits } from './circuits/release-circuits.ts';
export type { CallOptions, GenerateResult, ModelSource, ModelUsage, SdkModel } from './language-model.ts';
export { ModelCalls } from './model-calls.ts';
