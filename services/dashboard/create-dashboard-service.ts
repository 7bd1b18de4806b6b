import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { Router, type RequestHandler } from 'express';
import { SignIns } from '#shared/http/index.ts';
import { createRouterService, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { findKey, findKeyByDigest, SignInLinks } from '#shared/tenants/index.ts';
import { boardRoutes, sendBoardError } from './board/board-routes.ts';
import { CONSOLE_PAGES } from './console-pages.ts';
import { compressedFiles, sendConsole } from './console-files.ts';
import { pageHeaders } from './pages/page-headers.ts';
import { sendPageError, unknownPage } from './pages/page.ts';
import { requireSameOrigin, requireSignIn, sendPerson } from './sign-in/require-sign-in.ts';
import { showSignInLink, useSignInLink, type SignInLinkOptions } from './sign-in/sign-in-link.ts';
import { showSignIn, showSignOut, signIn, SignInLimiter, signOut, type SignInOptions } from './sign-in/sign-in.ts';

/** Enough for a key and a path. */
const MAX_FORM_BYTES = 8192;
const ASSETS = fileURLToPath(new URL('assets', import.meta.url));
/** The output of Vite for `console/`. */
const BUILT = fileURLToPath(new URL('dist', import.meta.url));

/** Serves the sign-in, the console and Bull Board. Its only state is the sign-ins, in Redis. */
export function createDashboardService(parts: Parts, built = BUILT): Service {
  const { redis, keys, tenants, log } = parts;
  const { signIn: signInSettings, limits } = parts.config.settings;
  const signIns = new SignIns(parts);
  const limiter = new SignInLimiter({ redis, keys, perMinute: limits.signInPerMinute });
  const signedIn = requireSignIn({ signIns, tenants });
  const router = Router();
  router.use('/dashboard', express.static(ASSETS, { index: false }));
  router.use(signInRoutes({ signIns, limiter, tenants, findKey: (secret) => findKey(parts, secret), log }));
  const links = new SignInLinks({ redis, keys, lifetimeMs: signInSettings.linkMs });
  router.use(linkRoutes({ signIns, limiter, tenants, links, findKeyByDigest: (digest) => findKeyByDigest(parts, digest), log }));
  router.use(consoleRoutes(signedIn, built));
  router.use('/board', ...pageHeaders('board'), signedIn, boardRoutes(parts));
  router.use(sendBoardError(log));
  router.use(unknownPage());
  router.use(sendPageError(log));
  return createRouterService('dashboard', router);
}

/** The console's files, which browsers cache, and its page, which they do not. */
function consoleRoutes(signedIn: RequestHandler, built: string): Router {
  const router = Router();
  router.use('/console/assets', ...compressedFiles(join(built, 'assets')));
  router.get('/console/person', ...pageHeaders('page'), signedIn, sendPerson());
  // The console reads from the address which page to show.
  const show = [...pageHeaders('console'), signedIn, sendConsole(built)];
  for (const { path } of CONSOLE_PAGES) router.get(path, show);
  return router;
}

function linkRoutes(options: SignInLinkOptions): Router {
  const router = Router();
  router
    .route('/sign-in/link')
    .all(...pageHeaders('sending'), requireSameOrigin)
    .get(showSignInLink(options))
    .post(express.urlencoded({ extended: false, limit: MAX_FORM_BYTES }), useSignInLink(options));
  return router;
}

function signInRoutes(options: SignInOptions): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: MAX_FORM_BYTES });
  const headers = pageHeaders('page');
  router
    .route('/sign-in')
    .all(...headers, requireSameOrigin)
    .get(showSignIn())
    .post(form, signIn(options));
  router
    .route('/sign-out')
    .all(...headers, requireSameOrigin)
    .get(showSignOut())
    .post(signOut(options.signIns));
  return router;
}
