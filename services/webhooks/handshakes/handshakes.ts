import { isSameSecret } from '#shared/text/index.ts';
import { readField } from '../providers/read-webhook.ts';
import {
  assertVerifyToken,
  echoedHeader,
  emptyEvents,
  type Handshake,
  hasOnly,
  HEADER_VALUE,
  hubChallenge,
  isUrlVerification,
  jsonChallenge,
  sign,
  SIGNABLE,
  textOfQuery,
  tokenOf,
} from './handshake.ts';
import { readHandshakeUrl } from './sns.ts';

/**
 * How senders check a new address before they send to it, each in its own form. A hook answers the one that its `options.handshake` names.
 * `docs/webhooks.md` lists the senders, and a test tries each.
 */

const microsoftGraph: Handshake = {
  proof: 'none',
  answer({ query }) {
    // SharePoint writes it in lower case.
    const token = query('validationToken') ?? query('validationtoken');
    return token === null ? null : { status: 200, text: tokenOf(token) };
  },
};

const asana: Handshake = {
  proof: 'none',
  secret: 'kept',
  answer({ method, header }) {
    const value = method === 'POST' ? header('x-hook-secret') : null;
    if (value === null) return null;
    const secret = tokenOf(value, HEADER_VALUE);
    return { status: 200, headers: { 'X-Hook-Secret': secret }, keeps: secret };
  },
};

const notion: Handshake = {
  proof: 'none',
  secret: 'kept',
  answer({ method, payload }) {
    const token = readField(payload, 'verification_token');
    if (method !== 'POST' || !hasOnly('verification_token')(payload)) return null;
    return { status: 200, keeps: tokenOf(token, HEADER_VALUE), isShown: true };
  },
};

const zoom: Handshake = {
  proof: 'if-signed',
  secret: 'needed',
  answer(request) {
    const { method, payload } = request;
    if (method !== 'POST' || readField(payload, 'event') !== 'endpoint.url_validation') return null;
    const plainToken = tokenOf(readField(readField(payload, 'payload'), 'plainToken'), SIGNABLE);
    return { status: 200, json: { plainToken, encryptedToken: sign(plainToken, request, 'hex') } };
  },
};

const x: Handshake = {
  proof: 'none',
  secret: 'needed',
  answer(request) {
    const token = request.method === 'GET' ? request.query('crc_token') : null;
    if (token === null) return null;
    return { status: 200, json: { response_token: `sha256=${sign(tokenOf(token, SIGNABLE), request, 'base64')}` } };
  },
};

const linkedin: Handshake = {
  proof: 'none',
  secret: 'needed',
  answer(request) {
    const token = request.method === 'GET' ? request.query('challengeCode') : null;
    if (token === null) return null;
    const challengeCode = tokenOf(token, SIGNABLE);
    return { status: 200, json: { challengeCode, challengeResponse: sign(challengeCode, request, 'hex') } };
  },
};

const okta: Handshake = {
  proof: 'none',
  answer({ method, header }) {
    const token = method === 'GET' ? header('x-okta-verification-challenge') : null;
    return token === null ? null : { status: 200, json: { verification: tokenOf(token) } };
  },
};

const twitch: Handshake = {
  proof: 'signature',
  secret: 'needed',
  answer({ method, header, payload }) {
    if (method !== 'POST' || header('twitch-eventsub-message-type') !== 'webhook_callback_verification') return null;
    return { status: 200, text: tokenOf(readField(payload, 'challenge')) };
  },
};

const slack: Handshake = { ...jsonChallenge(isUrlVerification), proof: 'signature', secret: 'needed' };

const smartsheet: Handshake = {
  proof: 'none',
  answer({ method, header }) {
    const value = method === 'POST' ? header('smartsheet-hook-challenge') : null;
    if (value === null) return null;
    const smartsheetHookResponse = tokenOf(value, HEADER_VALUE);
    return { status: 200, headers: { 'Smartsheet-Hook-Response': smartsheetHookResponse }, json: { smartsheetHookResponse } };
  },
};

/** The abuse protection of CloudEvents: the receiver says that it takes what this origin sends. */
const cloudEvents: Handshake = {
  proof: 'none',
  answer({ method, header }) {
    const origin = method === 'OPTIONS' ? header('webhook-request-origin') : null;
    if (origin === null) return null;
    return {
      status: 200,
      headers: { 'WebHook-Allowed-Origin': tokenOf(origin, HEADER_VALUE), 'WebHook-Allowed-Rate': '*', Allow: 'POST' },
    };
  },
};

const eventGrid: Handshake = {
  proof: 'none',
  answer(request) {
    const { payload } = request;
    const first: unknown = Array.isArray(payload) ? payload[0] : undefined;
    if (readField(first, 'eventType') !== 'Microsoft.EventGrid.SubscriptionValidationEvent') return cloudEvents.answer(request);
    return { status: 200, json: { validationResponse: tokenOf(readField(readField(first, 'data'), 'validationCode')) } };
  },
};

const sns: Handshake = {
  proof: 'none',
  answer({ method, payload }) {
    const type = method === 'POST' ? readField(payload, 'Type') : undefined;
    // Reading its address would subscribe again.
    if (type === 'UnsubscribeConfirmation') return { status: 200 };
    return type === 'SubscriptionConfirmation' ? { status: 200, confirms: readHandshakeUrl(payload) } : null;
  },
};

/** An empty 200 to whoever asks whether the address is there. */
const reachable: Handshake = {
  proof: 'none',
  answer: ({ method }) => (method === 'HEAD' || method === 'GET' ? { status: 200 } : null),
};

const fitbit: Handshake = {
  proof: 'none',
  needsVerifyToken: true,
  answer({ method, query, verifyToken }) {
    const token = method === 'GET' ? query('verify') : null;
    if (token === null) return null;
    // It asks once with a wrong one too, and wants exactly this.
    return { status: verifyToken !== null && isSameSecret(token, verifyToken) ? 204 : 404 };
  },
};

const oura: Handshake = {
  proof: 'none',
  needsVerifyToken: true,
  answer(request) {
    const token = request.method === 'GET' ? request.query('challenge') : null;
    if (token === null) return null;
    assertVerifyToken(request.query('verification_token'), request);
    return { status: 200, json: { challenge: tokenOf(token) } };
  },
};

const asText = (text: string): { text: string } => ({ text });

/** By the sender, and where several share a form, by each. */
export const HANDSHAKES = {
  adobe: textOfQuery('challenge'),
  asana,
  'cloud-events': cloudEvents,
  dropbox: textOfQuery('challenge'),
  'event-grid': eventGrid,
  fitbit,
  intercom: reachable,
  lark: jsonChallenge(isUrlVerification),
  line: emptyEvents,
  linkedin,
  meta: hubChallenge(asText, true),
  'microsoft-graph': microsoftGraph,
  miro: jsonChallenge(hasOnly('challenge')),
  monday: jsonChallenge(hasOnly('challenge')),
  notion,
  nylas: textOfQuery('challenge'),
  okta,
  oura,
  ringcentral: echoedHeader('validation-token', 'Validation-Token'),
  slack,
  smartsheet,
  sns,
  strava: hubChallenge((challenge) => ({ json: { 'hub.challenge': challenge } }), true),
  trello: reachable,
  twitch,
  websub: hubChallenge(asText, false),
  x,
  xero: emptyEvents,
  zoom,
} as const satisfies Readonly<Record<string, Handshake>>;

export type HandshakeName = keyof typeof HANDSHAKES;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its names
export const HANDSHAKE_NAMES = Object.keys(HANDSHAKES) as [HandshakeName, ...HandshakeName[]];

/** Whether the sender hands over the secret by its handshake. */
export function getsSecret(name: HandshakeName | undefined): boolean {
  if (name === undefined) return false;
  const { secret }: Handshake = HANDSHAKES[name];
  return secret === 'kept';
}

/** Why a hook cannot have this handshake, and which of its fields that is about; null when it can. */
export function handshakeProblem(
  name: HandshakeName,
  { hasSecret, verifyToken }: { hasSecret: boolean; verifyToken: string | undefined },
): { field: 'handshake' | 'verifyToken'; message: string } | null {
  const { secret, needsVerifyToken }: Handshake = HANDSHAKES[name];
  if (secret !== undefined && !hasSecret) return { field: 'handshake', message: `${name} needs a provider with a secret, such as hmac` };
  if (needsVerifyToken === true && verifyToken === undefined) return { field: 'verifyToken', message: `the handshake ${name} needs one` };
  return null;
}
