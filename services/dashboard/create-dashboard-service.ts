import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { Router, type RequestHandler } from 'express';
import { assertSameOrigin, SignIns } from '#shared/http/index.ts';
import { createRouterService, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { findKey, hasScope } from '#shared/tenants/index.ts';
import { createBoard } from './board/create-board.ts';
import { requireBoardAccess, sendBoardError } from './board/board-access.ts';
import { compressedFiles, sendConsole } from './console-files.ts';
import { pageHeaders } from './pages/page-headers.ts';
import { personOf, requireSignIn, sendPerson } from './sign-in/require-sign-in.ts';
import { sendPageError, unknownPage } from './pages/page-errors.ts';
import { SignInLimiter } from './sign-in/sign-in-limiter.ts';
import { showSignIn, signIn, type SignInOptions } from './sign-in/sign-in.ts';
import { showSignOut, signOut } from './sign-in/sign-out.ts';

/** A key and a path. */
const MAX_FORM_BYTES = 8192;
const ASSETS = fileURLToPath(new URL('assets', import.meta.url));
/** What Vite makes of `console/`. */
const BUILT = fileURLToPath(new URL('dist', import.meta.url));

/** Serves people: sign-in, the console, and Bull Board. Keeps only who is signed in, in Redis. */
export function createDashboardService(parts: Parts, built = BUILT): Service {
  const { redis, keys, tenants, log } = parts;
  const signIns = new SignIns(parts);
  const limiter = new SignInLimiter({ redis, keys, perMinute: parts.config.settings.limits.signInPerMinute });
  const signedIn = requireSignIn({ signIns, tenants });
  const router = Router();
  router.use('/dashboard', express.static(ASSETS, { index: false }));
  router.use(signInRoutes({ signIns, limiter, tenants, findKey: (secret) => findKey(parts, secret), log }));
  router.use(consoleRoutes(signedIn, built));
  router.use('/board', ...pageHeaders('board'), signedIn, sameOrigin, requireBoardAccess(tenants), logActions(parts), board(parts));
  router.use(sendBoardError(log));
  router.use(unknownPage());
  router.use(sendPageError(log));
  return createRouterService('dashboard', router);
}

/** The console's own files, which browsers may keep; the page that names them they may not. */
function consoleRoutes(signedIn: RequestHandler, built: string): Router {
  const router = Router();
  router.use('/console/assets', ...compressedFiles(join(built, 'assets')));
  router.get('/console/person', ...pageHeaders('page'), signedIn, sendPerson());
  // The console finds out from the address which of its pages it shows.
  const show = [...pageHeaders('console'), signedIn, sendConsole(built)];
  router.get('/', show);
  router.get('/chat', show);
  router.get('/sessions/:session', show);
  router.get('/schedules', show);
  router.get('/tasks/:id', show);
  return router;
}

function signInRoutes(options: SignInOptions): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: MAX_FORM_BYTES });
  const headers = pageHeaders('page');
  router
    .route('/sign-in')
    .all(...headers, sameOrigin)
    .get(showSignIn())
    .post(form, signIn(options));
  router
    .route('/sign-out')
    .all(...headers, sameOrigin)
    .get(showSignOut())
    .post(signOut(options.signIns));
  return router;
}

/** One board with actions and one without: Bull Board hides them per queue, not per person. */
function board({ ledger, queues, keys }: Parts): RequestHandler {
  const options = { ledger, queues, shards: keys.shards, basePath: '/board' };
  const forOperators = createBoard({ ...options, isReadOnly: false });
  const forReaders = createBoard({ ...options, isReadOnly: true });
  return (request, response, next) => {
    const show = hasScope(personOf(request).scopes, 'operate') ? forOperators : forReaders;
    show(request, response, next);
  };
}

const sameOrigin: RequestHandler = (request, _response, next) => {
  assertSameOrigin(request);
  next();
};

/** Who changed what on the board, for those who ask later. */
function logActions({ log }: Parts): RequestHandler {
  return (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const { id: keyId } = personOf(request);
      response.once('finish', () => {
        log.info(
          { event: 'board.action', keyId, action: `${request.method} ${request.originalUrl}`, status: response.statusCode },
          'An action on the board',
        );
      });
    }
    next();
  };
}
