import { createHmac } from 'node:crypto';
import { MusterError } from '#shared/errors/index.ts';
import { isSameSecret } from '#shared/text/index.ts';
import { readField } from '../providers/read-webhook.ts';

/** What a handshake is, and the forms that several senders share. */

/** A request that may be a handshake. */
export interface HandshakeRequest {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST';
  /** A parameter of the address; null when it is missing. */
  readonly query: (name: string) => string | null;
  readonly header: (name: string) => string | null;
  /** The JSON of a POST; undefined for what is none, or too large for a handshake. */
  readonly payload: unknown;
  /** The hook's secret; null for none. */
  readonly secret: string | null;
  readonly verifyToken: string | null;
}

export interface HandshakeAnswer {
  readonly status: 200 | 204 | 404;
  /** Plain text, or JSON. Absent for an empty body. */
  readonly text?: string;
  readonly json?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the operator needs to see what came, to go on at the sender. */
  readonly isShown?: boolean;
  /** The secret that the sender handed over, to be kept unless the hook has one. */
  readonly keeps?: string;
  /** An address of the sender that confirms it when it is read. */
  readonly confirms?: URL;
}

export interface Handshake {
  /** Whether it counts only from a sender that has proved itself like for each delivery: `if-signed` where it may come without a signature. */
  readonly proof: 'none' | 'if-signed' | 'signature';
  /** Whether the hook needs a secret of its own for it, gets one by it, or needs none. */
  readonly secret?: 'needed' | 'kept';
  readonly needsVerifyToken?: boolean;
  /** Whether the sender takes an empty answer only. */
  readonly isEmptyAnswer?: boolean;
  /** Null for a request that is no handshake. Errors: `hook.handshake-refused`, `request.malformed`. */
  answer(request: HandshakeRequest): HandshakeAnswer | null;
}

const MAX_TOKEN_CHARACTERS = 1000;
/** What comes back in a header. */
export const HEADER_VALUE = /^[\x21-\x7E]+$/;
/** What is signed for somebody: no JSON can be made of it, so that no delivery can. */
export const SIGNABLE = /^[\w.~+/=-]+$/;

/** Errors: `request.malformed`. */
export function tokenOf(value: unknown, form = /^\P{Cc}+$/u): string {
  if (typeof value === 'string' && value.length <= MAX_TOKEN_CHARACTERS && form.test(value)) return value;
  throw new MusterError('request.malformed', `The handshake's token is not a line of at most ${MAX_TOKEN_CHARACTERS} characters`);
}

function refused(reason: string): MusterError {
  return new MusterError('hook.handshake-refused', reason);
}

/** Errors: `hook.handshake-refused`. */
export function assertVerifyToken(given: string | null, { verifyToken }: HandshakeRequest): void {
  if (verifyToken !== null && !isSameSecret(given ?? '', verifyToken)) throw refused('The verify token does not match');
}

export function sign(text: string, { secret }: HandshakeRequest, encoding: 'hex' | 'base64'): string {
  if (secret === null) throw refused('The hook has no secret to sign with');
  return createHmac('sha256', secret).update(text).digest(encoding);
}

/** `GET ?<name>=<token>`, answered with the token as text. */
export function textOfQuery(name: string): Handshake {
  return {
    proof: 'none',
    answer({ method, query }) {
      const token = method === 'GET' ? query(name) : null;
      return token === null ? null : { status: 200, text: tokenOf(token) };
    },
  };
}

/** `GET ?hub.mode=subscribe&hub.challenge=<token>&hub.verify_token=<token>`, answered with the challenge. */
export function hubChallenge(make: (challenge: string) => Pick<HandshakeAnswer, 'text' | 'json'>, needsVerifyToken: boolean): Handshake {
  return {
    proof: 'none',
    needsVerifyToken,
    answer(request) {
      const { method, query } = request;
      const [mode, challenge] = [query('hub.mode'), query('hub.challenge')];
      if (method !== 'GET' || mode === null) return null;
      // The hub says that it will not send, and wants nothing back.
      if (mode === 'denied') return { status: 200 };
      if (mode !== 'subscribe') throw refused(`The hub asks to ${mode.slice(0, 50)}, and the hook confirms that it subscribes only`);
      assertVerifyToken(query('hub.verify_token'), request);
      return { status: 200, ...make(tokenOf(challenge)) };
    },
  };
}

/** `POST {"challenge": "<token>"}`, answered with the same. */
export function jsonChallenge(isIt: (payload: unknown) => boolean): Handshake {
  return {
    proof: 'none',
    answer(request) {
      const { method, payload } = request;
      if (method !== 'POST' || !isIt(payload)) return null;
      const token = readField(payload, 'token');
      assertVerifyToken(typeof token === 'string' ? token : null, request);
      return { status: 200, json: { challenge: tokenOf(readField(payload, 'challenge')) } };
    },
  };
}

/** Whether the payload is an object of this field alone. */
export const hasOnly =
  (name: string) =>
  (payload: unknown): boolean =>
    readField(payload, name) !== undefined && Object.keys(payload ?? {}).length === 1;
export const isUrlVerification = (payload: unknown): boolean => readField(payload, 'type') === 'url_verification';

/** A header that comes back: as it was, or under another name. */
export function echoedHeader(name: string, backName = name): Handshake {
  return {
    proof: 'none',
    answer({ header }) {
      const value = header(name);
      return value === null ? null : { status: 200, headers: { [backName]: tokenOf(value, HEADER_VALUE) } };
    },
  };
}

/** A signed body without events, answered without a body. */
export const emptyEvents: Handshake = {
  proof: 'signature',
  secret: 'needed',
  isEmptyAnswer: true,
  answer({ method, payload }) {
    const events = readField(payload, 'events');
    return method === 'POST' && Array.isArray(events) && events.length === 0 ? { status: 200 } : null;
  },
};
