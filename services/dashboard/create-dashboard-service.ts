import express, { Router, type RequestHandler } from 'express';
import { assertSameOrigin } from '#shared/http/assert-same-origin.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { findKey } from '#shared/tenants/key-store.ts';
import { hasScope } from '#shared/tenants/scopes.ts';
import { systemClock } from '#shared/time/clock.ts';
import { createBoard } from './board/create-board.ts';
import { requireBoardAccess } from './board/require-board-access.ts';
import { sendBoardError } from './board/send-board-error.ts';
import { pageHeaders } from './page-headers.ts';
import { requireSession, visitorOf } from './require-session.ts';
import { sendPageError } from './send-page-error.ts';
import { SessionCookie } from './session-cookie.ts';
import { SessionStore } from './session-store.ts';
import { SignInLimiter } from './sign-in-limiter.ts';
import { showSignIn, signIn, type SignInOptions } from './sign-in.ts';
import { showSignOut, signOut } from './sign-out.ts';
import { startPage } from './start-page.ts';
import { taskPage } from './task-page.ts';

/** How long a sign-in lasts. */
const SESSION_MS = 12 * 3_600_000;
/** A key and a path. */
const MAX_FORM_BYTES = 8192;
const ASSETS = new URL('assets', import.meta.url).pathname;

/** Serves people: sign-in, the newest tasks, a task, and Bull Board. Keeps only who is signed in, in Redis. */
export function createDashboardService(parts: Parts): Service {
  const { redis, keys, tenants, ledger, log } = parts;
  const sessions = new SessionStore({ redis, keys, lifetimeMs: SESSION_MS });
  const cookie = new SessionCookie({ publicUrl: parts.config.env.MUSTER_PUBLIC_URL, lifetimeMs: SESSION_MS });
  const limiter = new SignInLimiter({ redis, keys, perMinute: parts.config.settings.limits.signInPerMinute });
  const signedIn = requireSession({ sessions, cookie, tenants });
  const router = Router();
  router.use('/dashboard', express.static(ASSETS, { index: false }));
  router.use(signInRoutes({ sessions, cookie, limiter, tenants, findKey: (secret) => findKey(parts, secret), log }));
  router.get('/', ...pageHeaders('page'), signedIn, startPage(ledger, systemClock));
  router.get('/tasks/:id', ...pageHeaders('page'), signedIn, taskPage(parts, systemClock));
  router.use('/board', ...pageHeaders('board'), signedIn, sameOrigin, requireBoardAccess(), logActions(parts), board(parts));
  router.use(sendBoardError(log));
  router.use(sendPageError(log));
  return { name: 'dashboard', router, start: nothing, stop: nothing };
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
    .post(signOut(options.sessions, options.cookie));
  return router;
}

/** One board with actions and one without: Bull Board hides them per queue, not per person. */
function board({ ledger, queues, keys }: Parts): RequestHandler {
  const options = { ledger, queues, shards: keys.shards, basePath: '/board' };
  const forOperators = createBoard({ ...options, isReadOnly: false });
  const forReaders = createBoard({ ...options, isReadOnly: true });
  return (request, response, next) => {
    const show = hasScope(visitorOf(request).scopes, 'operate') ? forOperators : forReaders;
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
      const { id: keyId } = visitorOf(request);
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

/** Requests are the server's to drain, and connections belong to whoever opened them. */
function nothing(): Promise<void> {
  return Promise.resolve();
}
