/**
 * One throttle per provider account and model for the whole fleet: when a call may go, who is next, and what an answer teaches. What it
 * knows is in Redis, so every process reads the same.
 */
export { type ProviderAccount, accountLabel, accountOf, programAccount, providerAt } from './account.ts';
export {
  type AnswerHeaders,
  meaningOf,
  NO_ERROR,
  parseJson,
  type ProviderAnswer,
  type ProviderError,
  readFinishReason,
  readProviderError,
  readRequestedWait,
  readTokens,
  readWait,
  statusOf,
  usageOf,
} from './answers/index.ts';
export {
  type BatchAnswer,
  batchAnswerSchema,
  type BatchedRequest,
  type BatchWait,
  batchWaitOf,
  customIdOf,
  keyDigestOf,
  type ModelBatch,
} from './batches/batch-record.ts';
export { batchKind, holdOfBatch } from './batches/explain-batch.ts';
export { ModelBatchStore, type WaitingRequest } from './batches/model-batch-store.ts';
export { providerKind } from './explain-provider.ts';
export { describeChanges, LearnedParameters, type ParameterChanges } from './learned-parameters.ts';
export { findReset, readLimit, readUntil } from './limits/limit-words.ts';
export type { ReadingPlace } from './limits/reset-times.ts';
export type { Admission, CallHold, CallPermit } from './model-call.ts';
export { modelLabels } from './model-labels.ts';
export { ProviderThrottle } from './provider-throttle.ts';
export { type ThrottleView, listThrottles } from './read-throttles.ts';
export { releaseWaiting } from './release-waiting.ts';
