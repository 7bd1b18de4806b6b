import { ClientError } from './client-error.ts';

/** Headers as `fetch`, Node or a framework has them; of names in any case. */
type CallbackHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

interface VerifyOptions {
  /** How old or early a call may be. Defaults to five minutes. */
  toleranceMs?: number;
  /** Milliseconds since the epoch. Defaults to now. */
  now?: number;
}

const TOLERANCE_MS = 300_000;
const PREFIX = 'whsec_';

/**
 * Checks that a callback was signed with the tenant's secret (Standard Webhooks), and reads it. `body` is the body as it came: JSON that was
 * parsed and written again is another text. Rejects with `auth.bad-signature` for a wrong, old or missing signature.
 *
 * A callback may come twice: drop a `webhook-id` that was seen.
 */
export async function verifyCallback<Body = unknown>(
  headers: CallbackHeaders,
  body: string | Uint8Array,
  secret: string,
  { toleranceMs = TOLERANCE_MS, now = Date.now() }: VerifyOptions = {},
): Promise<Body> {
  const { id, timestamp, signatures } = readHeaders(headers);
  const ageMs = Math.abs(now - Number(timestamp) * 1000);
  if (!(ageMs <= toleranceMs)) throw badSignature(`it is of another time: ${timestamp}`);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const key = await importSecret(secret);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const signature of signatures) if (await isSignature(key, signature, signed)) return JSON.parse(text) as Body;
  throw badSignature('no signature is of this secret');
}

type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

async function importSecret(secret: string): Promise<HmacKey> {
  const bytes = secret.startsWith(PREFIX) ? decodeBase64(secret.slice(PREFIX.length)) : null;
  if (bytes === null) throw new ClientError('client.invalid', 'secret: expected whsec_..., as GET /v1/callbacks/secret answers it');
  return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** In constant time, by WebCrypto. */
async function isSignature(key: HmacKey, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [version, value = ''] = signature.split(',');
  const bytes = version === 'v1' ? decodeBase64(value) : null;
  return bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, signed));
}

/** Null for what is no Base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.codePointAt(0) ?? 0);
  } catch {
    return null;
  }
}

function readHeaders(headers: CallbackHeaders): { id: string; timestamp: string; signatures: string[] } {
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const byName = new Map(pairs.map(([name, value]) => [name.toLowerCase(), [value].flat()[0]]));
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => byName.get(`webhook-${name}`) ?? '');
  if (!id || !timestamp || !signatures) throw badSignature('expected webhook-id, webhook-timestamp and webhook-signature');
  return { id, timestamp, signatures: signatures.split(' ') };
}

function badSignature(what: string): ClientError {
  return new ClientError('auth.bad-signature', `The callback cannot be trusted: ${what}`);
}
