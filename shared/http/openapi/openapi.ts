import { STATUS_CODES } from 'node:http';
import { Router } from 'express';
import swaggerUi from 'swagger-ui-express';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject, type ZodOpenApiResponsesObject } from 'zod-openapi';
import { completeDocument, type OpenapiDocument } from './complete-document.ts';
import type { RouteDescription } from '../route.ts';
import { isStatus, problemResponses } from './problem-responses.ts';
import { readsOnly } from '../allowed-methods.ts';
import { secureHeaders } from '../middleware.ts';

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
    readsOnly(),
    secureHeaders({ styleSrc: ["'unsafe-inline'"] }),
    ...swaggerUi.serveFiles(undefined, page),
    swaggerUi.setup(undefined, page),
  );
  return router;
}

const DESCRIPTION =
  'Runs agent work from chat, webhooks, schedules and this API. In answers null stands for what is absent, and in the bodies of requests ' +
  'it may, except those of PATCH.';

/** The OpenAPI 3.1 document of these routes. */
function openapiDocument(routes: readonly RouteDescription[]): OpenapiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const each of routes) {
    const path = each.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [each.method]: operationOf(each) };
  }
  const document: unknown = createDocument({
    openapi: '3.1.0',
    info: { title: 'Muster', version: '1', description: DESCRIPTION },
    servers: [{ url: '/', description: 'This installation.' }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key.' } } },
    paths,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return completeDocument(document as OpenapiDocument);
}

function operationOf(each: RouteDescription): ZodOpenApiOperationObject {
  return {
    operationId: each.operationId,
    summary: each.summary,
    description: [each.description, accessOf(each)].filter(Boolean).join(' '),
    tags: [each.tag ?? /^\/v1\/(\w+)/.exec(each.path)?.[1] ?? 'other'],
    ...(each.scope === 'none' ? { security: [] } : {}),
    ...requestOf(each),
    responses: responsesOf(each),
  };
}

function accessOf({ scope, forVisitors }: RouteDescription): string {
  if (scope === 'none') return 'Needs no key.';
  return `Needs the scope \`${scope}\`${forVisitors === true ? ", or a visitor's token of this session" : ''}.`;
}

function requestOf({ request = {}, bodyMedia = ['application/json'], examples }: RouteDescription): Partial<ZodOpenApiOperationObject> {
  const { params, query, headers, body } = request;
  const requestParams = {
    ...(params instanceof z.ZodObject ? { path: params } : {}),
    ...(query instanceof z.ZodObject ? { query } : {}),
    ...(headers instanceof z.ZodObject ? { header: headers } : {}),
  };
  if (!body) return { requestParams };
  const required = !body.safeParse(undefined).success;
  const media = { schema: body, ...exampleOf(examples?.request) };
  return { requestParams, requestBody: { required, content: Object.fromEntries(bodyMedia.map((type) => [type, media])) } };
}

function responsesOf(each: RouteDescription): ZodOpenApiResponsesObject {
  const { responses, media = 'application/json', examples } = each;
  const described = problemResponses(each);
  for (const [status, schema] of Object.entries(responses)) {
    if (!isStatus(status)) continue;
    described[status] = {
      description: schema.description ?? STATUS_CODES[status] ?? status,
      ...(schema instanceof z.ZodNull ? {} : { content: { [media]: { schema, ...exampleOf(examples?.answers[status]) } } }),
    };
  }
  return described;
}

function exampleOf(value: unknown): { example?: unknown } {
  return value === undefined ? {} : { example: value };
}
