/** Tokens of one call as its provider counted them; undefined where it says nothing of them. */
export interface CountedTokens {
  /** All of the input, what was cached included. */
  inputTokens: number | undefined;
  /** All of the output, the reasoning included. */
  outputTokens: number | undefined;
  cachedInputTokens: number;
  reasoningTokens: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Where providers put each count. OpenAI and most others, Anthropic and the Responses API, Google, Ollama, Bedrock, Cohere.
 */
const INPUT = ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'prompt_eval_count', 'inputTokens', 'promptTokens'];
const OUTPUT = ['completion_tokens', 'output_tokens', 'candidatesTokenCount', 'eval_count', 'outputTokens', 'completionTokens'];
const TOTAL = ['total_tokens', 'totalTokenCount', 'totalTokens'];
/** OpenAI, xAI, OpenRouter; Perplexity and DeepInfra at the top; Google. */
const REASONING = [
  'completion_tokens_details.reasoning_tokens',
  'output_tokens_details.reasoning_tokens',
  'reasoning_tokens',
  'thoughtsTokenCount',
  'thinking_tokens',
];
/** OpenAI, Mistral and Groq; the Responses API; DeepSeek; Moonshot and Together; Google; Anthropic through gateways; Bedrock. */
const CACHED = [
  'prompt_tokens_details.cached_tokens',
  'input_tokens_details.cached_tokens',
  'prompt_cache_hit_tokens',
  'cached_tokens',
  'cachedContentTokenCount',
  'cache_read_input_tokens',
  'cacheReadInputTokens',
  'cached_prompt_tokens',
  'num_cached_tokens',
];
/** What Anthropic and Bedrock count beside the input. */
const WRITTEN = ['cache_creation_input_tokens', 'cacheWriteInputTokens'];
/** Counts of the input under these names leave out what was cached. */
const WITHOUT_CACHE: ReadonlySet<string> = new Set(['input_tokens', 'inputTokens']);

/** Reads the tokens of a usage in any known form; null for what is none. */
export function readTokens(fields: unknown): CountedTokens | null {
  if (!isFields(fields)) return null;
  const input = inputOf(fields);
  const output = count(fields, OUTPUT);
  const total = count(fields, TOTAL);
  if (input === undefined && output === undefined && total === undefined) return null;
  const reasoning = largest(fields, REASONING);
  const outputTokens = outputOf({ input, output, total, reasoning }, 'thoughtsTokenCount' in fields);
  // Some gateways give the thinking of Gemini only as the part of the total that is neither input nor visible output.
  const beside = Math.max(0, (outputTokens ?? 0) - (output ?? 0));
  return { inputTokens: input, outputTokens, cachedInputTokens: largest(fields, CACHED), reasoningTokens: Math.max(reasoning, beside) };
}

/** Anthropic and Bedrock count what was cached, read or written, beside the rest, and Google what its tools read; the Responses API within it. */
function inputOf(fields: Fields): number | undefined {
  const name = INPUT.find((each) => number(fields[each]) !== undefined);
  const input = name === undefined ? undefined : number(fields[name]);
  if (name === undefined || input === undefined) return undefined;
  if (name === 'promptTokenCount') return input + (count(fields, ['toolUsePromptTokenCount']) ?? 0);
  if (!WITHOUT_CACHE.has(name) || 'input_tokens_details' in fields) return input;
  return input + (count(fields, ['cache_read_input_tokens', 'cacheReadInputTokens']) ?? 0) + (count(fields, WRITTEN) ?? 0);
}

interface Counts {
  input: number | undefined;
  output: number | undefined;
  total: number | undefined;
  reasoning: number;
}

/**
 * All of the output. xAI and Google count reasoning beside the completion, OpenAI within it: the total tells which, else a count that is
 * larger than the completion, or Google's own field.
 */
function outputOf({ input, output, total, reasoning }: Counts, isBeside: boolean): number | undefined {
  if (output === undefined) return total === undefined || input === undefined ? undefined : Math.max(0, total - input);
  const stated = (total ?? 0) - (input ?? Infinity);
  // A total that leaves out what its parts say is none.
  if (stated >= Math.max(output, reasoning)) return stated;
  return isBeside || reasoning > output ? output + reasoning : output;
}

/** The first of these fields that has a count; `a.b` is a field within a field. */
function count(fields: Fields, names: readonly string[]): number | undefined {
  return names.map((name) => number(at(fields, name))).find((value) => value !== undefined);
}

/** Some servers fill one field and leave another at 0. */
function largest(fields: Fields, names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => number(at(fields, name)) ?? 0));
}

function at(fields: Fields, name: string): unknown {
  return name.split('.').reduce<unknown>((value, part) => field(value, part), fields);
}

/** Counts are integers that no sum of a day brings near what a number can hold; anything else is none. */
const MAX_COUNT = 1e12;

function number(value: unknown): number | undefined {
  const read = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof read === 'number' && read >= 0 && read <= MAX_COUNT ? Math.round(read) : undefined;
}

/** Where providers put the usage of a chunk or an answer: Groq in `x_groq`, Moonshot in the choice, Google and Anthropic by their names. */
export function usageOf(body: Fields): unknown {
  const { usage, x_groq: groq, usageMetadata, message, choices } = body;
  const inChoice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const places = [usage, field(groq, 'usage'), field(inChoice, 'usage'), usageMetadata, field(message, 'usage')];
  return places.find((place) => readTokens(place) !== null);
}

function field(value: unknown, name: string): unknown {
  return isFields(value) ? value[name] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
