import { Router } from 'express';
import swaggerUi from 'swagger-ui-express';
import { openapiDocument } from './openapi-document.ts';
import type { RouteDescription } from './route.ts';
import { secureHeaders } from './secure-headers.ts';

/** `/openapi.json`, and a page to read and try it at `/docs`. Nothing of either comes from another host. */
export function docsRouter(routes: readonly RouteDescription[]): Router {
  const router = Router();
  let document: string | undefined;
  router.get('/openapi.json', (_request, response) => {
    document ??= JSON.stringify(openapiDocument(routes));
    response.type('application/json').send(document);
  });
  // The validator's badge would tell a public service about this installation.
  const page = {
    swaggerUrl: '/openapi.json',
    swaggerOptions: { validatorUrl: null, persistAuthorization: false },
    customSiteTitle: 'Muster API',
  };
  // The page brings its style with it.
  router.use(
    '/docs',
    secureHeaders({ styleSrc: ["'unsafe-inline'"] }),
    ...swaggerUi.serveFiles(undefined, page),
    swaggerUi.setup(undefined, page),
  );
  return router;
}
