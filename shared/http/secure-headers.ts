import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Everything from this installation only: pages work offline and contact no other server. */
const STRICT = {
  defaultSrc: ["'self'"],
  baseUri: ["'none'"],
  connectSrc: ["'self'"],
  fontSrc: ["'self'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
};

type Directive = keyof typeof STRICT;

/**
 * Sets the security headers. A mounted page that needs more names its additions per directive, such as `{ styleSrc: ["'unsafe-inline'"] }`,
 * and uses this again in front of itself: the last policy wins.
 */
export function secureHeaders(more: Partial<Record<Directive, string[]>> = {}): RequestHandler {
  const directives: Record<string, string[]> = { ...STRICT };
  for (const [name, added] of Object.entries(more))
    directives[name] = [...(directives[name] ?? []), ...added].filter((source) => source !== "'none'");
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  });
}
