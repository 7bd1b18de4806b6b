import { Response } from 'undici';
import { type ParameterChanges, parseJson, type ProviderError, readProviderError } from '../../providers/index.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';

type Body = Readonly<Record<string, unknown>>;

/** Where it is remembered what a model refuses. */
export interface ParameterMemory {
  readonly read: (model: string) => Promise<ParameterChanges>;
  readonly learn: (model: string, changes: ParameterChanges) => Promise<void>;
}

interface AskingOptions {
  /** What the agent's definition says, which nothing changes. */
  readonly own: ParameterChanges;
  readonly memory: ParameterMemory;
}

/** Names of the bound of an answer: what refuses one often takes the other. */
const BOUNDS: Readonly<Record<string, string>> = { max_tokens: 'max_completion_tokens', max_completion_tokens: 'max_tokens' };
/** What a request may lack: the answer is of the same kind without it. Tools, formats and stop words are none of these. */
const OPTIONAL = [
  'stream_options',
  'parallel_tool_calls',
  'frequency_penalty',
  'presence_penalty',
  'top_k',
  'seed',
  'user',
  'verbosity',
  'reasoning_effort',
  'top_p',
  'temperature',
] as const;
const REFUSED: ReadonlySet<number> = new Set([400, 422]);
/** Requests for one call at most: a server names one parameter at a time. */
const MAX_REQUESTS = 8;

/**
 * A `fetch` for a model that asks again when its server refuses a parameter: by the other name of a bound, with the largest value that
 * it names, or without what is optional. What was answered so is remembered.
 */
export function askAgain(fetch: GuardedFetch, options: AskingOptions): GuardedFetch {
  return async (url, init) => {
    const body = typeof init.body === 'string' ? parseJson(init.body) : undefined;
    if (!isBody(body) || typeof body['model'] !== 'string') return await fetch(url, init);
    return await askUntilTaken({ ...options, model: body['model'], body }, (sent) => fetch(url, { ...init, body: JSON.stringify(sent) }));
  };
}

async function askUntilTaken(
  { model, body, own, memory }: AskingOptions & { model: string; body: Body },
  send: (body: Body) => Promise<Response>,
): Promise<Response> {
  const known = await memory.read(model);
  let learned = known;
  for (let count = 1; ; count += 1) {
    const sent = applyChanges(body, { ...learned, ...own });
    const response = await send(sent);
    if (response.ok && learned !== known) await memory.learn(model, learned);
    if (!REFUSED.has(response.status) || count === MAX_REQUESTS) return response;
    const text = await response.text();
    const error = readProviderError(parseJson(text) ?? text, true);
    const changes = error && changeFor({ body, sent, own, learned }, error);
    if (changes === null) return new Response(text, { status: response.status, headers: response.headers });
    learned = changes;
  }
}

interface Refusal {
  readonly body: Body;
  readonly sent: Body;
  readonly own: ParameterChanges;
  readonly learned: ParameterChanges;
}

/** What is known after a refusal; null for one that is not about a parameter, or leaves nothing to try. */
function changeFor({ body, sent, own, learned }: Refusal, refused: ProviderError): ParameterChanges | null {
  const error = { ...refused, message: refused.message.slice(0, MAX_MESSAGE).replace(OTHER_NAMES, '') };
  if (isOfAnother(error.param, sent)) return null;
  const names = [...Object.keys(BOUNDS), ...OPTIONAL].filter((name) => name in body && !(name in own));
  for (const name of names) {
    const before = learned[name] ?? {};
    const called = before.as ?? name;
    if (!(called in sent) || !isNamed(called, error)) continue;
    const change = called in BOUNDS ? changeOfBound(before, { name, value: sent[called] }, error) : changeOfOption(called, error);
    if (change !== null) return { ...learned, [name]: change };
  }
  return null;
}

type Change = ParameterChanges[string];

/** The other name; the largest value that is allowed; or none, where both names are refused. */
function changeOfBound(before: Change, { name, value }: { name: string; value: unknown }, error: ProviderError): Change | null {
  const isUnknown =
    isNamedExactly(before.as ?? name, error) && (UNKNOWN.test(error.message) || error.names.includes('unsupported_parameter'));
  if (isUnknown) return before.as === undefined ? { ...before, as: BOUNDS[name] ?? null } : { as: null };
  const largest = OF_THE_CONTEXT.test(error.message) ? null : largestIn(error.message, Number(value));
  return largest === null ? null : { ...before, max: largest };
}

function changeOfOption(name: string, { param, message, names }: ProviderError): Change | null {
  const isRefused = isOf(param, name) || names.includes('unsupported_parameter') || UNKNOWN.test(message) || WRONG_VALUE.test(message);
  return isRefused ? { as: null } : null;
}

/** How servers say that they do not know a parameter. */
const UNKNOWN =
  /unsupported parameter|\b(?:not|never) (?:be )?(?:used|supported?|permitted|allowed|recognized|accepted|available|enabled|implemented|compatible)\b|\b(?:doesn['’]t|does not|don['’]t|do not|isn['’]t|cannot|can['’]t) (?:be )?(?:used|support(?:ed)?|accept(?:ed)?|recognized?|allowed|permitted|set)\b|\bunsupported\b(?! value)|unrecognized|unknown (?:name|field|parameter|argument|property|key)|unexpected (?:keyword|field|parameter|argument|property|key)|extra(?:neous)? (?:inputs?|fields?|key|parameter)|extra_forbidden|additional propert|cannot find field|\bdeprecated\b|\binstead of\b|不支持/i;
/** And that they do not take its value. */
const WRONG_VALUE =
  /unsupported value|\bonly\b.{0,40}\b(?:default|allowed|supported|set|accepted)|\binvalid\b|\bmust be\b|\bshould be\b|\bcannot (?:both )?be\b|\bincompatible\b|\bnot (?:a )?valid\b|\bfixed (?:at|to)\b|\bout of range\b|\b(?:less|greater) than\b/i;
/** What servers add of parameters that they do know: serde's list, advice. */
const OTHER_NAMES =
  /(?:,? expected one of|\b(?:supported|allowed|valid|available|known|accepted) (?:parameters|fields|keys|arguments|properties|names|options)(?: are|:)|\bdid you mean|\b(?:please )?use\b(?= ['"`]?max_))[^\n]*/gi;
/** A bound that is too large with this prompt is not too large with others. */
const OF_THE_CONTEXT =
  /context (?:length|window) (?:is|of)|\bin the (?:messages|prompt)|\byour (?:request|prompt|messages)\b|input tokens/i;

/** Of a message, what is read. */
const MAX_MESSAGE = 4000;
/** Servers behind gateways name the bound as they call it: Google's `maxOutputTokens`, Bedrock's "maximum tokens". */
const BOUND = /\bmax(?:imum)?[_ -]?(?:output[_ -]?|new[_ -]?|completion[_ -]?)?tokens\b/i;

/** Whether an error is about a parameter. */
function isNamed(name: string, error: ProviderError): boolean {
  return isNamedExactly(name, error) || (name in BOUNDS && BOUND.test(error.message));
}

/** xAI writes `presencePenalty`. */
function isNamedExactly(name: string, { param, message }: ProviderError): boolean {
  return isOf(param, name) || new RegExp(`(?<![\\w.])${name.replaceAll('_', '[_-]?')}(?!\\w)`, 'i').test(message);
}

/** Whether an error is about a parameter that has to stay, as one of the messages or a stop word. */
function isOfAnother(param: string | undefined, sent: Body): boolean {
  const [root = ''] = param?.split(/[.[]/) ?? [];
  return root in sent && !(root in BOUNDS) && !OPTIONAL.some((name) => name === root);
}

/** `stream_options.include_usage` is of `stream_options`. */
function isOf(param: string | undefined, name: string): boolean {
  return param === name || param?.startsWith(`${name}.`) === true;
}

/** The largest number below what was sent: "[1, 8192]", "at most 16,384", "64000, which is the maximum", "to 8193 (exclusive)". */
function largestIn(message: string, sent: number): number | null {
  const numbers = [...message.slice(0, 1000).matchAll(/(?<![\d.,])(\d{1,3}(?:,\d{3})+|\d{1,9})(?![\d]|\.\d)\b(\s*\(exclusive\))?/g)]
    .map(([, digits = '', exclusive]) => Number(digits.replaceAll(',', '')) - (exclusive === undefined ? 0 : 1))
    .filter((number) => number > 1 && number < sent);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

/** The body as the server takes it. */
function applyChanges(body: Body, changes: ParameterChanges): Body {
  const entries = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const { as = name, max = Infinity } = Object.hasOwn(changes, name) ? (changes[name] ?? {}) : {};
    return as === null ? [] : [[as, typeof value === 'number' ? Math.min(value, max) : value]];
  });
  return Object.fromEntries(entries);
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
