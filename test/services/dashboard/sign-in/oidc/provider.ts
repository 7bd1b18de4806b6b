import { OAuth2Server } from 'oauth2-mock-server';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import type { RunningDashboard } from '../../running-dashboard.ts';

export type Claims = Record<string, unknown>;

/** A real provider on loopback: it signs tokens, checks PKCE and has keys, discovery and an end of sessions. */
export interface Provider {
  readonly issuer: string;
  /** What the next tokens say, besides the standard claims. */
  claims: Claims;
  readonly server: OAuth2Server;
  stop(): Promise<void>;
}

export async function startProvider(): Promise<Provider> {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  const provider: Provider = { issuer: server.issuer.url ?? '', claims: {}, server, stop: () => server.stop() };
  server.service.on('beforeTokenSigning', (token: { payload: Claims }) => {
    Object.assign(token.payload, { aud: 'muster' }, provider.claims);
  });
  return provider;
}

/** Settings of a fleet where groups `ops` and `acme-ops`, and one address, give roles. */
export function oidcSettings(issuer: string): NonNullable<SettingsInput['signIn']> {
  return {
    maxPeople: 3,
    oidc: {
      issuer,
      clientId: 'muster',
      clientSecret: 'a-secret-of-the-client',
      label: 'Example SSO',
      roles: [
        { claim: 'groups', values: ['ops', 'sre'], scopes: ['admin'] },
        { claim: 'realm_access.roles', values: ['acme-ops'], tenant: 'acme', scopes: ['operate'] },
        { claim: 'email', values: ['guest@example.com'], scopes: ['read'] },
        { claim: 'groups', values: ['ghosts'], tenant: 'nowhere', scopes: ['admin'] },
      ],
    },
  };
}

/** The provider's answer to a sign-in that a browser began: the path of the callback, and the cookie that the browser keeps meanwhile. */
export async function visitProvider(dashboard: RunningDashboard, next = '/'): Promise<{ callback: string; cookie: string; asked: URL }> {
  const begun = await dashboard.call('GET', `/sign-in/oidc?next=${encodeURIComponent(next)}`);
  const asked = new URL(begun.headers.get('location') ?? '');
  const answer = await fetch(asked, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location') ?? '');
  return { asked, callback: `${back.pathname}${back.search}`, cookie: begun.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

/** Signs a person in. Resolves to the answer of the callback, and its cookie. */
export async function signInPerson(dashboard: RunningDashboard, next?: string): Promise<{ answer: Response; cookie: string }> {
  const { callback, cookie } = await visitProvider(dashboard, next);
  const answer = await dashboard.call('GET', callback, { cookie });
  const opened = answer.headers.getSetCookie().find((each) => each.startsWith('muster_session='));
  return { answer, cookie: opened?.split(';')[0] ?? '' };
}
