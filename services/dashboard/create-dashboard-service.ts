import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { Router, type RequestHandler } from 'express';
import { readsOnly, SignIns } from '#shared/http/index.ts';
import { createRouterService, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { boardRoutes, sendBoardError } from './board/board-routes.ts';
import { CONSOLE_PAGES, FORMER_PATHS } from './console-pages.ts';
import { clientFile, compressedFiles, sendConsole } from './console-files.ts';
import { guideRoutes } from './guide/guide-routes.ts';
import { pageHeaders } from './pages/page-headers.ts';
import { sendPageError, unknownPage } from './pages/page.ts';
import { changeTenant, requireOpenTenant } from './sign-in/acting-tenant.ts';
import { requireSameOrigin, requireSignIn, sendPerson } from './sign-in/require-sign-in.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';

/** Enough for the name of a tenant. */
const MAX_FORM_BYTES = 1024;
const form = express.urlencoded({ extended: false, limit: MAX_FORM_BYTES });
const ASSETS = fileURLToPath(new URL('assets', import.meta.url));
/** The output of Vite for `console/`. */
const BUILT = fileURLToPath(new URL('dist', import.meta.url));
/** The output of VitePress for `docs/`. */
const GUIDE = fileURLToPath(new URL('guide/dist', import.meta.url));

/** Serves the sign-in, the console, the guide and Bull Board. Its only state is the sign-ins, in Redis. */
export function createDashboardService(parts: Parts, built = BUILT, guide = GUIDE): Service {
  const signIns = new SignIns(parts);
  const known = requireSignIn(signIns);
  const signedIn = [known, requireOpenTenant(parts.tenants)];
  const router = Router();
  router.use('/dashboard', readsOnly(), express.static(ASSETS, { index: false }));
  router.use(guideRoutes(guide));
  router.use(signInRoutes(parts, signIns));
  router.use(consoleRoutes(signedIn, { built, provider: parts.config.settings.signIn.oidc?.label ?? null }));
  router.post('/console/tenant', ...pageHeaders('page'), requireSameOrigin, known, form, changeTenant(signIns, parts.tenants));
  // What Bull Board's pages call has methods of its own.
  router.use(/^\/board(?=\/(?!api\/)|$)/, readsOnly());
  router.use('/board', ...pageHeaders('board'), ...signedIn, boardRoutes(parts));
  router.use(sendBoardError(parts.log));
  router.use(unknownPage());
  router.use(sendPageError(parts.log));
  return createRouterService('dashboard', router);
}

/** The console's files, which browsers cache, and its page, which they do not; and the client that is built with it. */
function consoleRoutes(signedIn: readonly RequestHandler[], { built, provider }: { built: string; provider: string | null }): Router {
  const router = Router();
  router.get('/client.js', ...clientFile(built));
  router.use('/console/assets', readsOnly(), ...compressedFiles(join(built, 'assets')));
  router.get('/console/person', ...pageHeaders('page'), ...signedIn, sendPerson(provider));
  // The console reads from the address which page to show.
  const show = [...pageHeaders('console'), ...signedIn, sendConsole(built)];
  for (const { path } of CONSOLE_PAGES) router.get(path, show);
  for (const [former, path] of Object.entries(FORMER_PATHS)) {
    router.get(former, (request, response) => response.redirect(301, `${path}${new URL(request.url, 'http://page').search}`));
  }
  return router;
}
