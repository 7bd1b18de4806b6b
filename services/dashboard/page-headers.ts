import type { RequestHandler } from 'express';
import { contentSecurityPolicy, referrerPolicy, xContentTypeOptions } from 'helmet';

/** Nothing runs on our own pages, and nothing comes from elsewhere. */
const PAGE = {
  defaultSrc: ["'none'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** The one style that Bull Board writes into a page: the colours of its Redis icon. */
const BOARD_ICON_STYLE = "'sha256-r2N1TB/gHbBtBZFKg7ejmq1acVSREzucTAEw6ga4hoU='";

/** Bull Board is an application of scripts; all of them are served from here. */
const BOARD = {
  ...PAGE,
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", BOARD_ICON_STYLE],
  connectSrc: ["'self'"],
  fontSrc: ["'self'"],
  baseUri: ["'self'"],
  formAction: ["'none'"],
};

/** Security headers of a page. */
export function pageHeaders(kind: 'page' | 'board'): RequestHandler[] {
  return [
    contentSecurityPolicy({ useDefaults: false, directives: kind === 'board' ? BOARD : PAGE }),
    // Not `no-referrer`: a form would then be sent with the origin "null" and taken for another site's.
    referrerPolicy({ policy: 'same-origin' }),
    xContentTypeOptions(),
    (_request, response, next) => {
      response.set('Cache-Control', 'no-store');
      next();
    },
  ];
}
