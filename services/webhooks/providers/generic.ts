import type { BinaryLike } from 'node:crypto';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { getsSecret, HANDSHAKE_NAMES, handshakeProblem } from '../handshakes/handshakes.ts';
import { equalBodiesSchema } from './github.ts';
import {
  badSignature,
  DEFAULT_TOLERANCE_MS,
  headerNameSchema,
  nameHeaders,
  readDeliveryHeader,
  readHeader,
  readNamedWebhook,
  requireSecrets,
  timeProblem,
  TIMESTAMP_UNITS,
} from './read-webhook.ts';
import { hmacMatches, readSignatures } from './signatures.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/** What a signed content is made of. */
const WORDS = ['{body}', '{timestamp}', '{id}'] as const;
const WORD = /\{[^{}]*\}/g;

/** How a sender checks the address. */
const handshakeOptions = {
  /** The sender whose check of the address is answered; without it none is. */
  handshake: z.enum(HANDSHAKE_NAMES).optional(),
  /** The word that the sender is given, too, for handshakes that have one. */
  verifyToken: z.string().min(1).max(200).optional(),
};

/** Adds what is wrong with a handshake for its provider. */
function checkHandshake(hasSecret: boolean): (options: z.infer<z.ZodObject<typeof handshakeOptions>>, context: z.RefinementCtx) => void {
  return ({ handshake, verifyToken }, context) => {
    const problem = handshake === undefined ? null : handshakeProblem(handshake, { hasSecret, verifyToken });
    if (problem !== null) context.addIssue({ code: 'custom', path: [problem.field], message: problem.message });
  };
}

/** How a sender signs. */
const optionsSchema = z
  .strictObject({
    /** The header that holds the signature, or several in a list. */
    header: headerNameSchema,
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64']).default('hex'),
    /** The text before each signature in its header: `sha256=`. */
    prefix: z.string().max(50).default(''),
    /** The header that holds the time of signing, which may be `header` for `t=<time>,v1=<signature>`; without it there is no replay window. */
    timestampHeader: headerNameSchema.optional(),
    /** How the time is written: seconds or milliseconds since the epoch, or a date. Defaults to seconds. */
    timestampUnit: z.enum(TIMESTAMP_UNITS).default('s'),
    /** How far the timestamp may be from now, before or after. Defaults to 5 minutes. */
    toleranceMs: z.number().int().min(1000).max(86_400_000).default(DEFAULT_TOLERANCE_MS),
    /** The signed content, of `{body}`, `{timestamp}` and `{id}`. Defaults to `{body}`, and with a timestamp to `{timestamp}.{body}`. */
    signedContent: z.string().max(500).optional(),
    /** How the secret is written: as the text that it is, or as bytes in base64 (also after `whsec_`) or hex. */
    secretEncoding: z.enum(['text', 'base64', 'hex']).default('text'),
    equalBodies: equalBodiesSchema.default('one'),
    ...nameHeaders,
    ...handshakeOptions,
  })
  .superRefine((options, context) => {
    const problem = signedContentProblem(options);
    if (problem) context.addIssue({ code: 'custom', path: ['signedContent'], message: problem });
  })
  .superRefine(checkHandshake(true));
type HmacOptions = z.infer<typeof optionsSchema>;

type ContentOptions = Pick<HmacOptions, 'signedContent' | 'timestampHeader' | 'deliveryHeader'>;

/** An unsigned timestamp could be changed, so its window would protect nothing. */
function signedContentProblem({ signedContent: content, timestampHeader, deliveryHeader }: ContentOptions): string | null {
  if (content === undefined) return null;
  const words: readonly string[] = WORDS;
  const unknown = content.match(WORD)?.find((word) => !words.includes(word));
  if (unknown !== undefined) return `there is no ${unknown}: expected ${WORDS.join(', ')}`;
  if (content.split('{body}').length !== 2) return 'expected {body} exactly once';
  if (content.includes('{timestamp}') !== (timestampHeader !== undefined))
    return 'expected {timestamp} exactly when there is a timestampHeader';
  if (content.includes('{id}') && deliveryHeader === undefined) return 'expected a deliveryHeader, which {id} comes from';
  return null;
}

const { header: _needed, ...optional } = optionsSchema.shape;

/** An HMAC as the hook's options describe it, for senders that no other provider fits. */
export const hmac = {
  headers: {},
  hasSecret: true,
  secretProblem: hmacSecretProblem,
  getsSecret: (options) => getsSecret(optionsSchema.safeParse(options).data?.handshake),
  options: {
    schema: optionsSchema,
    isRequired: true,
    problem: `needs header, and takes ${Object.keys(optional).join(', ')}`,
  },
  verify: verifyHmac,
} as const satisfies WebhookProvider;

const BYTES = { base64: /^(?:whsec_)?[A-Za-z0-9+/_-]+={0,2}$/, hex: /^(?:[0-9a-f]{2})+$/i };

function hmacSecretProblem(secret: string, options: unknown): string | null {
  const { secretEncoding: encoding } = optionsSchema.safeParse(options).data ?? {};
  if (encoding === undefined || encoding === 'text') return null;
  return BYTES[encoding].test(secret) ? null : `expected ${encoding}, as options.secretEncoding says`;
}

function verifyHmac(incoming: IncomingWebhook): WebhookEvent {
  const options = requireOptions(incoming.options);
  const signed = readSigned(incoming, options);
  return readNamedWebhook(incoming, options, { signed, isIdProved: options.signedContent?.includes('{id}') ?? false });
}

/** What was signed. Errors: `auth.bad-signature`. */
function readSigned(incoming: IncomingWebhook, options: HmacOptions): readonly BinaryLike[] {
  const { algorithm, encoding, prefix } = options;
  const header = readHeader(incoming.headers, options.header);
  const sent = header === null ? [] : readSignatures(header, prefix);
  if (sent.length === 0) throw badSignature(`The header ${options.header} is missing or lacks its prefix`);
  const secrets = requireSecrets(incoming.secrets).map((secret) => secretBytes(secret, options));
  const hasOwnTime = options.timestampHeader?.toLowerCase() === options.header.toLowerCase();
  const problems = new Set<string>();
  for (const time of hasOwnTime ? new Set(sent.map((each) => each.time)) : [readTime(incoming, options)]) {
    const problem = windowProblem(incoming, options, time);
    const content = signedContent(incoming, options, time);
    const signatures = sent.filter((each) => !hasOwnTime || each.time === time).map(({ signature }) => signature);
    if (problem === null && hmacMatches({ algorithm, encoding, secrets, content, signatures })) return content;
    problems.add(problem ?? 'The signature does not match');
  }
  throw badSignature([...problems].join('; '));
}

function readTime({ headers }: IncomingWebhook, { timestampHeader }: HmacOptions): string | null {
  return timestampHeader === undefined ? null : readHeader(headers, timestampHeader);
}

function windowProblem({ nowMs }: IncomingWebhook, options: HmacOptions, text: string | null): string | null {
  const { timestampHeader, timestampUnit: unit, toleranceMs } = options;
  return timestampHeader === undefined ? null : timeProblem({ text, unit, toleranceMs, nowMs });
}

function secretBytes(secret: string, { secretEncoding }: HmacOptions): string | Uint8Array {
  if (secretEncoding === 'text') return secret;
  return Buffer.from(secretEncoding === 'base64' ? secret.replace(/^whsec_/, '') : secret, secretEncoding);
}

function requireOptions(options: unknown): HmacOptions {
  const parsed = optionsSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new MusterError('internal.error', 'The hook has no hmac options');
}

function signedContent({ headers, rawBody }: IncomingWebhook, options: HmacOptions, time: string | null): BinaryLike[] {
  const template = options.signedContent ?? (options.timestampHeader === undefined ? '{body}' : '{timestamp}.{body}');
  const [before = '', after = ''] = template.split('{body}');
  const id = template.includes('{id}') ? readDeliveryHeader(headers, options.deliveryHeader) : null;
  const values: Readonly<Record<string, string | null>> = { '{timestamp}': time, '{id}': id };
  // One pass, so that an id with a word in it is not filled in again.
  const fill = (text: string): string => text.replaceAll(WORD, (word) => values[word] ?? '');
  return [fill(before), rawBody, fill(after)];
}

/** Where to find the names of event and delivery, and how the sender checks the address. */
const namesSchema = z
  .strictObject({ equalBodies: equalBodiesSchema.optional(), ...nameHeaders, ...handshakeOptions })
  .superRefine(checkHandshake(false));

/** Accepts everything: each sender who knows the address may make tasks. */
export const none = {
  headers: {},
  hasSecret: false,
  options: { schema: namesSchema, isRequired: false, problem: `takes ${Object.keys(namesSchema.shape).join(', ')} only` },
  verify: verifyNone,
} as const satisfies WebhookProvider;

function verifyNone(incoming: IncomingWebhook): WebhookEvent {
  const names = namesSchema.nullable().parse(incoming.options) ?? {};
  return readNamedWebhook(incoming, names, { signed: [incoming.rawBody], isIdProved: true });
}
