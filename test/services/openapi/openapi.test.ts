import { afterAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { innerOf, type JsonSchema, type Media, type OpenapiDocument } from '#shared/http/openapi/complete-document.ts';
import { type RouteDescription, routesOf } from '#shared/http/route.ts';
import { startHttpServer } from '#shared/http/start-http-server.ts';
import { createApiService } from '../../../services/api/create-api-service.ts';
import { createChatService } from '../../../services/chat/create-chat-service.ts';
import { createHubService } from '../../../services/hub/create-hub-service.ts';
import { createWebhooksService } from '../../../services/webhooks/create-webhooks-service.ts';
import { typesOf } from './typed-document.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts();
const routers = [createApiService(parts), createWebhooksService(parts), createChatService(parts), createHubService(parts)].flatMap(
  ({ router }) => (router ? [router] : []),
);
const routes = routers.flatMap((router) => routesOf(router));
const { config, log } = parts;
const server = await startHttpServer({ routers, host: '127.0.0.1', port: 0, config, log, readiness: () => Promise.resolve([]) });
afterAll(() => server.close(500));
const document = (await (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).json()) as OpenapiDocument;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ operation, name: `${method.toUpperCase()} ${path}` })),
);

it('the committed document is the one that the services serve; `npm run openapi` writes it', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../../docs/openapi.json');
});

it('the types of the client are those of the document', async () => {
  await expect(await typesOf(document)).toMatchFileSnapshot('../../../shared/client/openapi.gen.ts');
}, 60_000);

describe('in the document', () => {
  it('each operation has an id of its own', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('each parameter and each field has a description', () => {
    const parameters = operations.flatMap(({ name, operation: { parameters: all = [] } }) =>
      all.filter(({ description }) => !description).map((parameter) => `${name} ${parameter.name}`),
    );
    const fields = Object.entries(document.components.schemas).flatMap(([name, schema]) => undescribed(schema, name));
    expect([...parameters, ...fields]).toEqual([]);
  });

  it('each JSON body is a named component', () => {
    const unnamed = operations.flatMap(({ name, operation: { requestBody, responses } }) =>
      [requestBody?.content, ...Object.values(responses).map(({ content }) => content)]
        .map((content) => content?.['application/json'])
        .filter((media) => media && media.schema?.$ref === undefined)
        .map(() => name),
    );
    expect(unnamed).toEqual([]);
  });

  it('each component has a name that somebody gave it', () => {
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name) || /^[A-Z][a-z]+[A-Z]\w+Answer\d*$/.test(name))).toEqual([]);
  });

  it('each example is what the operation takes or answers', () => {
    const wrong = routes.flatMap((route) =>
      bodiesOf(route)
        .filter(({ schema, media }) => media.example === undefined || !schema.safeParse(media.example).success)
        .map(({ what }) => `${route.operationId} ${what}`),
    );
    expect(wrong).toEqual([]);
  });

  it('the options of a hook are in the forms of its providers, and nothing else', () => {
    const bodies = ['HookRequest', 'HookPatch'].map((name) => document.components.schemas[name]?.properties?.['options']);
    const forms = bodies.map((options) => options?.anyOf?.flatMap((form) => form.anyOf ?? []));
    const closed = { type: 'object', additionalProperties: false };
    for (const form of forms) expect(form).toMatchObject([closed, closed, closed]);
  });

  it('there is a server', () => {
    expect(document).toMatchObject({ servers: [{ url: '/' }] });
  });
});

interface Body {
  what: string;
  schema: z.ZodType;
  media: Media;
}

/** The JSON bodies of a route with what the document has of each. */
function bodiesOf({ path, method, request, responses }: RouteDescription): Body[] {
  const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method];
  const answers = Object.entries(responses).map(([status, schema]) => ({
    what: status,
    schema,
    media: operation?.responses[status]?.content?.['application/json'],
  }));
  const asked = { what: 'request', schema: request?.body, media: operation?.requestBody?.content['application/json'] };
  return [asked, ...answers].filter((body): body is Body => body.schema !== undefined && body.media !== undefined);
}

/** Fields without a description; a reference is described by what it refers to. */
function undescribed(schema: JsonSchema, at: string): string[] {
  const found: string[] = [];
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (!field.description && field.$ref === undefined && !isNullableReference(field)) found.push(`${at}.${name}`);
    found.push(...undescribed(field, `${at}.${name}`));
  }
  return [...found, ...innerOf(schema).flatMap((each) => undescribed(each, `${at}[]`))];
}

function isNullableReference({ anyOf = [] }: JsonSchema): boolean {
  return anyOf.some(({ $ref }) => $ref !== undefined);
}
