import type { Request } from 'express';
import { z } from 'zod';
import type { Environment, OidcSettings, Settings } from '#shared/config/index.ts';
import { type Route, route } from '#shared/http/index.ts';

/** `/mcp` for clients that sign people in at the identity provider, as RFC 9728 describes it. */
export interface ProtectedResource {
  /** Its address, which access tokens have to be for. */
  readonly address: string;
  /** Where its description is. */
  readonly metadataUrl: string;
  readonly provider: OidcSettings;
}

interface ResourceConfig {
  readonly env: Pick<Environment, 'MUSTER_PUBLIC_URL'>;
  readonly settings: Pick<Settings, 'signIn'>;
}

const METADATA = '/.well-known/oauth-protected-resource/mcp';

/** Null without a provider, and without the public address: a caller could choose any other, and bring a token that was meant for that. */
export function protectedResource({ env, settings }: ResourceConfig): ProtectedResource | null {
  const { oidc } = settings.signIn;
  const base = env.MUSTER_PUBLIC_URL?.replace(/\/$/, '');
  if (oidc === undefined || base === undefined) return null;
  return { address: `${base}/mcp`, metadataUrl: `${base}${METADATA}`, provider: oidc };
}

/** `GET /.well-known/oauth-protected-resource/mcp`. */
export function getResourceMetadata({ address, provider }: ProtectedResource): Route {
  return route({
    method: 'get',
    path: METADATA,
    operationId: 'getMcpResourceMetadata',
    summary: 'Where clients of MCP sign people in',
    scope: 'none',
    responses: { 200: z.looseObject({}) },
    handle: () => ({
      status: 200,
      body: {
        resource: address,
        authorization_servers: [provider.issuer],
        scopes_supported: provider.scopes,
        bearer_methods_supported: ['header'],
        resource_name: 'Muster',
      },
    }),
  });
}

/** What a 401 says, so that a client finds its way to the provider. */
export function challengeOf({ metadataUrl }: ProtectedResource, { headers }: Request): string {
  const error = headers.authorization === undefined ? '' : 'error="invalid_token", ';
  return `Bearer ${error}resource_metadata="${metadataUrl}"`;
}
