import type { BinaryLike } from 'node:crypto';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import {
  assertRecent,
  badSignature,
  DEFAULT_TOLERANCE_MS,
  headerNameSchema,
  hmacMatches,
  nameHeaders,
  readHeader,
  readNamedWebhook,
  requireSecret,
} from './read-webhook.ts';
import { equalBodiesSchema } from './github.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/** How a sender signs. */
const optionsSchema = z
  .strictObject({
    /** The header that holds the signature. */
    header: headerNameSchema,
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64']).default('hex'),
    /** The text before the signature in its header: `sha256=`. */
    prefix: z.string().max(50).default(''),
    /** The header that holds the time of signing; without it there is no replay window. */
    timestampHeader: headerNameSchema.optional(),
    /** The unit of the timestamp since the epoch. Defaults to seconds. */
    timestampUnit: z.enum(['s', 'ms']).default('s'),
    /** How far the timestamp may be from now, before or after. Defaults to 5 minutes. */
    toleranceMs: z.number().int().min(1000).max(86_400_000).default(DEFAULT_TOLERANCE_MS),
    /** The signed content. Defaults to `{body}`, and with a timestamp to `{timestamp}.{body}`. */
    signedContent: z.string().max(200).optional(),
    equalBodies: equalBodiesSchema.default('one'),
    ...nameHeaders,
  })
  .superRefine((options, context) => {
    const problem = signedContentProblem(options.signedContent, options.timestampHeader !== undefined);
    if (problem) context.addIssue({ code: 'custom', path: ['signedContent'], message: problem });
  });
type HmacOptions = z.infer<typeof optionsSchema>;

/** An unsigned timestamp could be changed, so its window would protect nothing. */
function signedContentProblem(content: string | undefined, hasTimestamp: boolean): string | null {
  if (content === undefined) return null;
  if (content.split('{body}').length !== 2) return 'expected {body} exactly once';
  if (content.includes('{timestamp}') !== hasTimestamp) return 'expected {timestamp} exactly when there is a timestampHeader';
  return null;
}

const { header: _needed, ...optional } = optionsSchema.shape;

/** An HMAC as the hook's options describe it, for senders that no other provider fits. */
export const hmac = {
  headers: {},
  hasSecret: true,
  options: {
    schema: optionsSchema,
    isRequired: true,
    problem: `provider hmac needs header, and takes ${Object.keys(optional).join(', ')}`,
  },
  signsBodyOnly: true,
  verify: verifyHmac,
} as const satisfies WebhookProvider;

function verifyHmac(incoming: IncomingWebhook): WebhookEvent {
  const { headers, rawBody, nowMs } = incoming;
  const options = requireOptions(incoming.options);
  const header = readHeader(headers, options.header);
  if (!header?.startsWith(options.prefix)) throw badSignature(`The header ${options.header} is missing or lacks its prefix`);
  const timestamp = options.timestampHeader === undefined ? null : readHeader(headers, options.timestampHeader);
  if (options.timestampHeader !== undefined) {
    assertRecent({ text: timestamp, unitMs: options.timestampUnit === 's' ? 1000 : 1, toleranceMs: options.toleranceMs, nowMs });
  }
  const { algorithm, encoding } = options;
  const content = signedContent(options, timestamp, rawBody);
  const signature = header.slice(options.prefix.length).trim();
  if (!hmacMatches({ algorithm, encoding, secret: requireSecret(incoming.secret), content, signature }))
    throw badSignature('The signature does not match');
  return readNamedWebhook(incoming, options);
}

function requireOptions(options: unknown): HmacOptions {
  const parsed = optionsSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new MusterError('internal.error', 'The hook has no hmac options');
}

function signedContent({ signedContent: template }: HmacOptions, timestamp: string | null, rawBody: Buffer): BinaryLike[] {
  const [before = '', after = ''] = (template ?? (timestamp === null ? '{body}' : '{timestamp}.{body}')).split('{body}');
  const fill = (text: string): string => text.replaceAll('{timestamp}', timestamp ?? '');
  return [fill(before), rawBody, fill(after)];
}

/** Where to find the names of event and delivery. */
const namesSchema = z.strictObject(nameHeaders);

/** Accepts everything: each sender who knows the address may make tasks. */
export const none = {
  headers: {},
  hasSecret: false,
  options: { schema: namesSchema, isRequired: false, problem: 'provider none takes eventHeader and deliveryHeader only' },
  signsBodyOnly: false,
  verify: verifyNone,
} as const satisfies WebhookProvider;

function verifyNone(incoming: IncomingWebhook): WebhookEvent {
  return readNamedWebhook(incoming, namesSchema.nullable().parse(incoming.options) ?? {});
}
