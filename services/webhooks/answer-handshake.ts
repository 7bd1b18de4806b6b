import type { Response } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { parseBoundedJson } from '#shared/http/index.ts';
import { isSameSecret } from '#shared/text/index.ts';
import { describeDelivery, refusedDelivery } from './deliveries/describe-delivery.ts';
import type { HookStore } from './hook-store.ts';
import { type Hook, hookNotFound } from './hook.ts';
import type { MakeTaskParts } from './make-task.ts';
import type { Handshake, HandshakeAnswer, HandshakeRequest } from './handshakes/handshake.ts';
import { HANDSHAKES } from './handshakes/handshakes.ts';
import { readHeader } from './providers/read-webhook.ts';
import { type IncomingWebhook, PROVIDERS } from './providers/registry.ts';

export interface AnswerHandshakeParts extends Pick<MakeTaskParts, 'clock' | 'record'> {
  readonly store: Pick<HookStore, 'change'>;
  /** Reads an address of a sender, to confirm. Rejects when it does not answer with success. */
  confirm(url: URL): Promise<void>;
}

/** A request of a sender, before its proof is checked. */
export interface ArrivedRequest extends Pick<IncomingWebhook, 'headers' | 'rawBody'> {
  readonly method: HandshakeRequest['method'];
  readonly query: URLSearchParams;
}

/** Handshakes are short. */
const MAX_BYTES = 16_384;
const BOUNDS = { maxDepth: 16, maxValues: 1000 };

/** The handshake that a hook answers; null for none. */
export function handshakeOf({ provider, options }: Hook): Handshake | null {
  const name = options !== null && 'handshake' in options ? options.handshake : PROVIDERS[provider].handshake;
  return name === undefined ? null : HANDSHAKES[name];
}

/** Whether a handshake is answered before the sender's proof is checked, as it may come without one. */
export function comesUnproved({ proof }: Handshake, { options }: Hook, { headers }: ArrivedRequest): boolean {
  if (proof !== 'if-signed' || options === null || !('header' in options)) return proof === 'none';
  return readHeader(headers, options.header) === null;
}

/**
 * Answers a sender's check of the address; null for a request that is none. A secret that comes with it is kept before the answer, once.
 * Errors: `hook.handshake-refused`, `request.malformed`, `hook.not-found`.
 */
export async function answerHandshake(
  parts: AnswerHandshakeParts,
  { hook, handshake }: { hook: Hook; handshake: Handshake },
  arrived: ArrivedRequest,
): Promise<HandshakeAnswer | null> {
  const { rawBody } = arrived;
  try {
    const answer = handshake.answer(readRequest(hook, arrived));
    if (answer === null) return null;
    if (answer.keeps !== undefined) await keepSecret(parts, hook, answer.keeps);
    if (answer.confirms !== undefined) await parts.confirm(answer.confirms);
    const payload = answer.isShown === true ? rawBody.toString() : '';
    parts.record(hook, { ...describeDelivery(parts.clock, rawBody.length), verdict: 'handshake', payload });
    return answer;
  } catch (error) {
    // Its body may hold a secret.
    parts.record(hook, { ...refusedDelivery(parts.clock, error, rawBody), payload: '' });
    throw error;
  }
}

function readRequest({ secret, options }: Hook, { method, query, headers, rawBody }: ArrivedRequest): HandshakeRequest {
  const verifyToken = options !== null && 'verifyToken' in options ? (options.verifyToken ?? null) : null;
  return {
    method,
    query: (name) => query.get(name),
    header: (name) => readHeader(headers, name),
    payload: method === 'POST' ? parsePayload(rawBody) : undefined,
    secret,
    verifyToken,
  };
}

/** Undefined for what is no JSON: that is no handshake, and what reads deliveries refuses it. */
function parsePayload(rawBody: Buffer): unknown {
  if (rawBody.length > MAX_BYTES) return undefined;
  try {
    return parseBoundedJson(rawBody.toString(), BOUNDS);
  } catch {
    return undefined;
  }
}

/** Keeps a secret that a sender hands over. A later one never takes its place. Errors: `hook.handshake-refused`, `hook.not-found`. */
async function keepSecret({ store, clock }: AnswerHandshakeParts, { tenant, id }: Hook, secret: string): Promise<void> {
  const updatedAt = new Date(clock.now()).toISOString();
  const kept = await store.change(tenant, id, (hook) => (hook.secret === null ? { ...hook, secret, updatedAt } : hook));
  if (kept === null) throw hookNotFound(id);
  if (kept.secret === null || !isSameSecret(kept.secret, secret))
    throw new MusterError(
      'hook.handshake-refused',
      'The hook has a secret already: make another hook, or clear the secret with PATCH { "secret": null }',
    );
}

/** Writes a handshake's answer. What came from outside goes back as text or JSON, and no browser takes it for anything else. */
export function writeHandshake(response: Response, { status, text, json, headers = {} }: HandshakeAnswer): void {
  response.status(status).set({ ...headers, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
  if (text !== undefined) response.type('text/plain').send(text);
  else if (json !== undefined) response.json(json);
  else response.end();
}
