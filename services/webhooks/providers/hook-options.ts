import { z } from 'zod';

const headerName = z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'expected the name of an HTTP header');

const names = {
  /** The header that names the event. By default the payload's `type` or `event`. */
  eventHeader: headerName.optional(),
  /** The header that holds the id of the delivery. By default a digest of the body stands in for it. */
  deliveryHeader: headerName.optional(),
};

/**
 * What equal bodies under different delivery ids are: `one` event that somebody sent again, or `each` an event of its own. Only where the
 * signature is over the body and not the id.
 */
const equalBodies = z.enum(['one', 'each']);

/** For provider `github`. */
export const githubOptionsSchema = z.strictObject({ equalBodies });

/** How a sender signs, for provider `hmac`. */
export const hmacOptionsSchema = z
  .strictObject({
    /** The header that holds the signature. */
    header: headerName,
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64']).default('hex'),
    /** What stands before the signature in its header: `sha256=`. */
    prefix: z.string().max(50).default(''),
    /** The header that holds the time of signing; without it there is no replay window. */
    timestampHeader: headerName.optional(),
    /** What the timestamp counts. Defaults to seconds since the epoch. */
    timestampUnit: z.enum(['s', 'ms']).default('s'),
    /** How far the timestamp may be from now, before or after. Defaults to 5 minutes. */
    toleranceMs: z.number().int().min(1000).max(86_400_000).default(300_000),
    /** What was signed. Defaults to `{body}`, and with a timestamp to `{timestamp}.{body}`. */
    signedContent: z.string().max(200).optional(),
    equalBodies: equalBodies.default('one'),
    ...names,
  })
  .superRefine((options, context) => {
    const problem = signedContentProblem(options.signedContent, options.timestampHeader !== undefined);
    if (problem) context.addIssue({ code: 'custom', path: ['signedContent'], message: problem });
  });

/** Where to find names in what provider `none` takes. */
export const noneOptionsSchema = z.strictObject(names);

export type HmacOptions = z.infer<typeof hmacOptionsSchema>;
export type NoneOptions = z.infer<typeof noneOptionsSchema>;
type GithubOptions = z.infer<typeof githubOptionsSchema>;
export type HookOptions = HmacOptions | GithubOptions | NoneOptions;

/** Where the names of event and delivery are, where a hook may say so. */
export function headerNames(options: HookOptions | null): NoneOptions {
  return options !== null && ('eventHeader' in options || 'deliveryHeader' in options) ? options : {};
}

/** Whether equal bodies are events of their own. */
export function wantsEqualBodies(options: HookOptions | null): boolean {
  return options !== null && 'equalBodies' in options && options.equalBodies === 'each';
}

/** A timestamp outside of the signature could be changed by anybody, so the window would only look like one. */
function signedContentProblem(content: string | undefined, hasTimestamp: boolean): string | null {
  if (content === undefined) return null;
  if (content.split('{body}').length !== 2) return 'expected {body} exactly once';
  if (content.includes('{timestamp}') !== hasTimestamp) return 'expected {timestamp} exactly when there is a timestampHeader';
  return null;
}
