/** The error that an answer holds, whatever form its provider gives it. */
export interface ProviderError {
  /** For people. */
  readonly message: string;
  /** What it calls itself in codes, types and reasons, in lower case, the most telling first. */
  readonly names: readonly string[];
  /** The HTTP status that it names. */
  readonly status?: number;
  /** Values of its fields that say when to come again, as text; those of milliseconds end with `ms`. */
  readonly waits: readonly string[];
  /** Headers that a gateway passes on within the error. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parameter that it is about. */
  readonly param?: string;
}

/** A body is read so deep, and so many values of it. */
const MAX_DEPTH = 6;
const MAX_VALUES = 400;

/** Fields whose objects hold the error itself. */
const INNER = [
  'error',
  'errors',
  'Error',
  'fault',
  'base_resp',
  'detail',
  'details',
  'violations',
  'issues',
  'metadata',
  'innererror',
  'raw',
  'message',
];
/** Of a body that is one. */
const WRAPPERS = ['error', 'errors', 'Error', 'fault'];
const OF_A_COMPLETION = ['choices', 'usage', 'candidates', 'delta', 'content'];
const MESSAGES = ['message', 'Message', 'msg', 'error_msg', 'status_msg', 'faultstring', 'errorMessage', 'error_description', 'detail'];
const NAMES = [
  'code',
  'Code',
  'type',
  'status',
  'reason',
  'error_code',
  'errorcode',
  'errorCode',
  'status_code',
  'quotaId',
  'quota_limit',
  'title',
];
const STATUSES = ['status', 'statusCode', 'status_code', 'code', 'http_status', 'raw_status_code', 'httpCode'];
const WAITS = ['retryDelay', 'retry_after', 'retryAfter', 'retry_after_seconds', 'retry_after_ms', 'retryAfterMs', 'reset_at', 'resets_at'];

type Found = { -readonly [Name in keyof ProviderError]: ProviderError[Name] extends readonly string[] ? string[] : ProviderError[Name] };

/**
 * Reads the error of a body: an object of any known form, a list of such, or text. Null for what holds none, as a chat completion. A plain
 * text is an error where `isError` says that the body stands for one.
 */
export function readProviderError(body: unknown, isError = false): ProviderError | null {
  const found: Found = { message: '', names: [], waits: [], headers: {} };
  if (!isError && !holdsError(body)) return null;
  gather(body, found, { depth: 0, left: { count: MAX_VALUES } });
  if (found.message === '') found.message = found.names.join(', ');
  return { ...found, names: [...new Set(found.names.map((name) => name.toLowerCase()))] };
}

/** Whether a body of a good status stands for an error all the same. */
function holdsError(body: unknown): boolean {
  if (Array.isArray(body)) return body.length > 0 && holdsError(body[0]);
  if (!isObject(body)) return false;
  if (WRAPPERS.some((name) => isFilled(body[name]))) return true;
  const { base_resp: baseResp } = body;
  if (isObject(baseResp) && Number(baseResp['status_code'] ?? 0) !== 0) return true;
  // A chunk of usage has no message, nor has a completion.
  return !OF_A_COMPLETION.some((name) => name in body) && MESSAGES.some((name) => isText(body[name]) || Array.isArray(body[name]));
}

interface Place {
  readonly depth: number;
  readonly left: { count: number };
}

function gather(value: unknown, found: Found, { depth, left }: Place): void {
  left.count -= 1;
  if (depth > MAX_DEPTH || left.count < 0) return;
  const place = { depth: depth + 1, left };
  if (typeof value === 'string') gatherText(value, found, place);
  else if (Array.isArray(value)) for (const each of value) gather(each, found, place);
  else if (isObject(value)) gatherObject(value, found, place);
}

/** Some gateways put the JSON of another's error into the text of their own. */
function gatherText(text: string, found: Found, place: Place): void {
  const from = text.search(/[[{]/);
  const inner = from === -1 ? undefined : parseJson(text.slice(from));
  if (inner !== undefined && holdsError(inner)) gather(inner, found, place);
  else if (found.message === '') found.message = text.trim();
}

function gatherObject(value: Readonly<Record<string, unknown>>, found: Found, place: Place): void {
  // What stands inside is more telling than what a gateway puts around it.
  for (const name of INNER) if (isFilled(value[name])) gather(value[name], found, place);
  found.names.push(...plainValues(value, NAMES));
  for (const name of WAITS) found.waits.push(...plainValues(value, [name]).map((text) => (/ms$/i.test(name) ? `${text}ms` : text)));
  for (const text of MESSAGES.map((name) => value[name]).filter(isText)) gatherText(text, found, place);
  const status = STATUSES.map((name) => Number(value[name])).find((number) => Number.isInteger(number) && number >= 400 && number < 600);
  if (status !== undefined) found.status ??= status;
  gatherParam(value, found);
  gatherHeaders(value['headers'], found);
}

function plainValues(value: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names
    .map((name) => value[name])
    .filter(isPlain)
    .map((each) => `${each}`);
}

/** The parameter in OpenAI's form, or in that of Python's validators: `loc: ["body", "stream_options"]`. */
function gatherParam({ param, loc }: Readonly<Record<string, unknown>>, found: Found): void {
  if (isText(param)) found.param ??= param;
  if (Array.isArray(loc)) found.param ??= loc.filter((part) => part !== 'body').join('.');
}

function gatherHeaders(headers: unknown, found: Found): void {
  if (!isObject(headers)) return;
  const texts = Object.entries(headers).flatMap(([name, value]) => (isPlain(value) ? [[name.toLowerCase(), `${value}`] as const] : []));
  found.headers = { ...Object.fromEntries(texts), ...found.headers };
}

/** The value of a JSON text; undefined for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isPlain(value: unknown): value is string | number {
  return isText(value) || typeof value === 'number';
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false && (!Array.isArray(value) || value.length > 0);
}
