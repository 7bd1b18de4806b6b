import { FINISH_REASONS, type FinishReason } from '../../config/index.ts';

/**
 * How providers say that an answer has ended. What becomes of the task:
 *
 * - `stop`, `tool_calls`: it completes
 * - `length`, `content_filter`: it completes, its output is truncated; without any text it fails
 * - `error`: the provider broke off, so that the attempt fails with PROVIDER_ERROR and is retried
 * - `unknown`: a word that is not here; it completes
 *
 * OpenAI and Azure, Anthropic (`end_turn`...), Google (`MAX_TOKENS`...), Mistral (`model_length`), DeepSeek (`insufficient_system_resource`), Zhipu
 * (`sensitive`, `network_error`), OpenRouter (`error`), Together (`eos`), vLLM and SGLang (`abort`), TGI (`eos_token`), Cohere, Bedrock,
 * watsonx, Ollama (`load`, `unload`), LM Studio. Letters only: others write the same words in capitals or with dashes.
 */
const WORDS: Readonly<Record<FinishReason, readonly string[]>> = {
  unknown: [],
  stop: [
    'stop',
    'endturn',
    'stopsequence',
    'eos',
    'eostoken',
    'eosfound',
    'stopstringfound',
    'complete',
    'completed',
    'finished',
    'done',
    'end',
    'stopped',
    'eot',
    'eom',
    'endoftext',
  ],
  tool_calls: ['toolcalls', 'toolcall', 'functioncall', 'tooluse', 'pauseturn'],
  length: [
    'length',
    'maxtokens',
    'maxlength',
    'maxoutputtokens',
    'maxnewtokens',
    'maxcompletiontokens',
    'contextlength',
    'truncated',
    'maxoutputreached',
    'modellength',
    'modelcontextwindowexceeded',
    'contextlengthexceeded',
    'contextlengthreached',
    'contextwindowexceeded',
    'tokenlimit',
    'timelimit',
    'errorlimit',
    'maxpredictedtokensreached',
    'incomplete',
    'compaction',
  ],
  content_filter: [
    'contentfilter',
    'contentfiltered',
    'sensitive',
    'safety',
    'refusal',
    'recitation',
    'blocklist',
    'prohibitedcontent',
    'spii',
    'imagesafety',
    'imageprohibitedcontent',
    'imagerecitation',
    'language',
    'guardrailintervened',
    'guardrail',
    'errortoxic',
    'modelarmor',
    'blocked',
    'promptblocked',
    'flagged',
    'moderation',
    'contentpolicyviolation',
    'safetyfilter',
  ],
  error: [
    'error',
    'networkerror',
    'abort',
    'aborted',
    'cancelled',
    'canceled',
    'usercancel',
    'userstopped',
    'insufficientsystemresource',
    'failed',
    'timeout',
    'timedout',
    'internalerror',
    'servererror',
    'engineerror',
    'modelerror',
    'providererror',
    'unexpectederror',
    'unknownerror',
    'connectionerror',
    'interrupted',
    'unload',
    'load',
    'modelunloaded',
    'notfinished',
    'malformedfunctioncall',
    'malformedresponse',
    'malformedmodeloutput',
    'malformedtooluse',
    'unexpectedtoolcall',
    'toomanytoolcalls',
    'missingthoughtsignature',
    'overloaded',
    'ratelimit',
    'preempted',
  ],
};

const REASON_OF: ReadonlyMap<string, FinishReason> = new Map(
  FINISH_REASONS.flatMap((reason) => WORDS[reason].map((word) => [word, reason] as const)),
);

/** What a provider's word says; Google's are sometimes written `FinishReason.MAX_TOKENS`. */
export function readFinishReason(word: string | null | undefined): FinishReason {
  const letters = (word ?? '')
    .replace(/^.*\./, '')
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
  return REASON_OF.get(letters) ?? 'unknown';
}
