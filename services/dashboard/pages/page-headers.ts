import type { RequestHandler } from 'express';
import { contentSecurityPolicy, referrerPolicy, xContentTypeOptions } from 'helmet';

/** Nothing runs on the pages that we write here, and nothing comes from elsewhere. */
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

/**
 * The console is an application of scripts too. Its styles are all in its files: `style-src` takes neither nonce nor
 * `'unsafe-inline'`, because scripts may set the properties of an element's style without either (what React and Mantine do),
 * and what of Mantine would write a <style> element is switched off, see `console/theme.ts`.
 */
const CONSOLE = { ...PAGE, scriptSrc: ["'self'"], connectSrc: ["'self'"] };

const DIRECTIVES = { page: PAGE, board: BOARD, console: CONSOLE };

/** Security headers of a page. */
export function pageHeaders(kind: keyof typeof DIRECTIVES): RequestHandler[] {
  return [
    contentSecurityPolicy({ useDefaults: false, directives: DIRECTIVES[kind] }),
    // Not `no-referrer`: a form would then be sent with the origin "null" and taken for another site's.
    referrerPolicy({ policy: 'same-origin' }),
    xContentTypeOptions(),
    (_request, response, next) => {
      response.set('Cache-Control', 'no-store');
      next();
    },
  ];
}
