/**
 * The one reader of what providers answer: errors in every known form and what they mean, waits, limits, tokens, and how an answer ended.
 * Failures, the throttle and the meter read through it, so that they agree. It keeps nothing.
 */
export { readFinishReason } from './call-ending.ts';
export { meaningOf, statusOf } from './error-meanings.ts';
export { parseJson, type ProviderError, readProviderError } from './provider-error.ts';
export { NO_ERROR, type ProviderAnswer, readLimits, readRefusal, type Refusal, type StatedLimit } from './read-refusal.ts';
export { type AnswerHeaders, readRequestedWait, readWait } from './read-waits.ts';
export { readTokens, usageOf } from './token-usage.ts';
