import type { RequestHandler } from 'express';
import { contentSecurityPolicy, referrerPolicy, xContentTypeOptions } from 'helmet';

/** Pages written by this service run no script and load only files of this site. */
const PAGE = {
  defaultSrc: ["'none'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Digest of the only style that Bull Board writes into a page: the colours of its Redis icon. */
const BOARD_ICON_STYLE = "'sha256-r2N1TB/gHbBtBZFKg7ejmq1acVSREzucTAEw6ga4hoU='";

/** Bull Board runs scripts, all served from this site. */
const BOARD = {
  ...PAGE,
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", BOARD_ICON_STYLE],
  connectSrc: ["'self'"],
  fontSrc: ["'self'"],
  baseUri: ["'self'"],
  formAction: ["'none'"],
};

/**
 * The console runs scripts too. `style-src` needs neither nonce nor `'unsafe-inline'`: React and Mantine set the style properties of
 * elements, which the policy allows. `console/main.tsx` disables the parts of Mantine that write <style> elements.
 */
const CONSOLE = { ...PAGE, scriptSrc: ["'self'"], connectSrc: ["'self'"] };

/** A page with a form that its script sends. */
const SENDING = { ...PAGE, scriptSrc: ["'self'"] };

/** The guide writes styles into elements, for the colours of code and of diagrams. Icons in its style sheet are `data:` addresses. */
const GUIDE = { ...CONSOLE, styleSrc: ["'self'", "'unsafe-inline'"], imgSrc: ["'self'", 'data:'] };

const DIRECTIVES = { guide: GUIDE, page: PAGE, sending: SENDING, board: BOARD, console: CONSOLE };

/** Security headers of a page. */
export function pageHeaders(kind: keyof typeof DIRECTIVES): RequestHandler[] {
  return [
    contentSecurityPolicy({ useDefaults: false, directives: DIRECTIVES[kind] }),
    // With `no-referrer` a form would have the origin "null" and count as a request of another site.
    referrerPolicy({ policy: 'same-origin' }),
    xContentTypeOptions(),
    (_request, response, next) => {
      response.set('Cache-Control', 'no-store');
      next();
    },
  ];
}
