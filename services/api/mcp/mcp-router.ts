import type { Router } from 'express';
import { createRouter, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { AccessTokens } from '#shared/tenants/index.ts';
import { mcpRoute } from './mcp-route.ts';
import { getResourceMetadata, type ProtectedResource, protectedResource } from './protected-resource.ts';

/** `/mcp`, and where sign-in is set up the description by which its clients find the provider. `all` are the routes that its tools call. */
export function mcpRouter(parts: Parts, all: readonly Route[]): Router {
  const resource = protectedResource(parts.config);
  const routes = [mcpRoute(parts, all, resource), ...(resource === null ? [] : [getResourceMetadata(resource)])];
  const accessTokens = resource === null ? undefined : openTokens(parts, resource);
  return createRouter({ routes, parts, log: parts.log, accessTokens, isDocumented: false });
}

function openTokens(
  { redis, keys, tenants, log, config }: Parts,
  { address: audience, provider: settings }: ProtectedResource,
): AccessTokens {
  const { maxPeople, peopleRetentionMs } = config.settings.signIn;
  return new AccessTokens({ settings, bounds: { maxPeople, peopleRetentionMs }, audience, redis, keys, tenants, log });
}
