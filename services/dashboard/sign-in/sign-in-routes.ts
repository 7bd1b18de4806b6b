import express, { Router } from 'express';
import type { SignIns } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { findKey, findKeyByDigest, SignInLinks } from '#shared/tenants/index.ts';
import { pageHeaders } from '../pages/page-headers.ts';
import { OidcSignIn } from './oidc/oidc-routes.ts';
import { requireSameOrigin } from './require-sign-in.ts';
import { SignInAudit } from './sign-in-audit.ts';
import { SignInLimiter } from './sign-in-limiter.ts';
import { showSignInLink, useSignInLink } from './sign-in-link.ts';
import { type FindEndSession, showSignIn, showSignOut, signIn, signOut, type SignInOptions } from './sign-in.ts';

/** Enough for a key and a path. */
const MAX_FORM_BYTES = 8192;

/** Signing in with a key, by a link and at the identity provider, and signing out. */
export function signInRoutes(parts: Parts, signIns: SignIns): Router {
  const { redis, keys, tenants, log } = parts;
  const { limits, signIn: settings } = parts.config.settings;
  const limiter = new SignInLimiter({ redis, keys, perMinute: limits.signInPerMinute, ofKeyPerMinute: limits.signInsOfKeyPerMinute });
  const label = settings.oidc?.label ?? null;
  const options: SignInOptions = {
    signIns,
    limiter,
    tenants,
    findKey: (secret) => findKey(parts, secret),
    label,
    log,
    audit: new SignInAudit(parts),
  };
  const oidc = openOidc(parts, options);
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: MAX_FORM_BYTES });
  const headers = [...pageHeaders('page'), requireSameOrigin];
  // With each method: a handler of all of them would take the others for served.
  router.get('/sign-in', ...headers, showSignIn(options));
  router.post('/sign-in', ...headers, form, signIn(options));
  const endAtProvider: FindEndSession | null = oidc === null ? null : (request, idToken) => oidc.endSessionUrl(request, idToken);
  router.get('/sign-out', ...headers, showSignOut());
  router.post('/sign-out', ...headers, signOut(options, endAtProvider));
  if (oidc !== null) {
    router.get('/sign-in/oidc', ...headers, oidc.begin());
    router.get('/sign-in/oidc/callback', ...headers, oidc.complete());
    // From the provider's server: it has no cookie, and is no page of another site.
    router.post('/sign-in/oidc/backchannel-logout', ...pageHeaders('page'), form, oidc.endByProvider());
  }
  const links = new SignInLinks({ redis, keys, lifetimeMs: settings.linkMs });
  const linkOptions = { ...options, links, findKeyByDigest: (digest: string) => findKeyByDigest(parts, digest) };
  const linkHeaders = [...pageHeaders('sending'), requireSameOrigin];
  router.get('/sign-in/link', ...linkHeaders, showSignInLink(linkOptions));
  router.post('/sign-in/link', ...linkHeaders, form, useSignInLink(linkOptions));
  return router;
}

function openOidc({ redis, keys, config }: Parts, options: SignInOptions): OidcSignIn | null {
  const { oidc: settings, maxPeople, peopleRetentionMs } = config.settings.signIn;
  if (settings === undefined) return null;
  const bounds = { maxPeople, peopleRetentionMs };
  return new OidcSignIn({ ...options, settings, bounds, redis, keys, publicUrl: config.env.MUSTER_PUBLIC_URL });
}
