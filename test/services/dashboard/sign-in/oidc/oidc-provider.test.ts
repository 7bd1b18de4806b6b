import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/index.ts';
import { explainNoRole } from '#shared/tenants/provider/no-role.ts';
import { OidcProvider } from '../../../../../services/dashboard/sign-in/oidc/oidc-provider.ts';

let answer = { status: 200, type: 'application/json', body: '' };
const server = createServer((_request, response) => {
  response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
afterAll(() => server.close());
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const roles = [
  { claim: 'groups', values: ['ops'], scopes: ['admin' as const] },
  { claim: 'realm_access.roles', values: ['x'], scopes: ['admin' as const] },
];

async function begin(issuer: string): Promise<string> {
  const { oidc } = settingsSchema.parse({ signIn: { oidc: { issuer, clientId: 'muster', label: 'The login', roles } } }).signIn;
  if (oidc === undefined) throw new Error('no settings');
  const provider = new OidcProvider(oidc, createLog({ level: 'silent', service: 'test' }));
  const begun = await provider.begin('/', `${base}/back`).then(
    () => 'begun',
    (error: unknown) => (error as Error).message,
  );
  return begun.replaceAll(base, '');
}

const JSON_TYPE = 'application/json';
const named = (issuer: string): typeof answer => ({ status: 200, type: JSON_TYPE, body: JSON.stringify({ issuer: `${base}${issuer}` }) });

describe('a provider that cannot be used says why', () => {
  it.each<[string, string, () => typeof answer, RegExp]>([
    [
      'a slash too much',
      '/realm/',
      () => named('/realm'),
      /calls itself \/realm, and signIn.oidc.issuer is \/realm\/: only the last slash differs/,
    ],
    [
      'a slash too little',
      '/realm',
      () => named('/realm/'),
      /calls itself \/realm\/, and signIn.oidc.issuer is \/realm: only the last slash differs/,
    ],
    ['another name', '/realm', () => named('/other'), /calls itself \/other, and signIn.oidc.issuer is \/realm: write it/],
    ['no description', '/realm', () => ({ status: 404, type: 'text/html', body: '' }), /has no description below \/realm \(404\)/],
    ['a page', '/realm', () => ({ status: 200, type: 'text/html', body: '<p>' }), /no description below \/realm that can be read/],
    ['no JSON', '/realm', () => ({ status: 200, type: JSON_TYPE, body: '{' }), /no description below \/realm that can be read/],
    ['a fault', '/realm', () => ({ status: 500, type: 'text/html', body: '' }), /The login does not answer/],
  ])('%s', async (_what, issuer, given, reason) => {
    answer = given();
    expect(await begin(`${base}${issuer}`)).toMatch(reason);
  });
});

const rules = settingsSchema.parse({ signIn: { oidc: { issuer: base, clientId: 'muster', roles } } }).signIn.oidc?.roles ?? [];

function explain(claims: object): string {
  const { code, missing, text } = explainNoRole({ claims: { ...claims }, rules, name: 'Ann', hasRoles: false });
  return `${code} [${missing.join(' ')}] ${text}`;
}

describe('a person without a role', () => {
  it.each<[string, object, RegExp]>([
    ['has other values', { groups: ['staff'], realm_access: { roles: ['y'] } }, /^auth.no-role \[\] Ann has no role here/],
    ['has other values of one claim', { groups: ['staff'] }, /^auth.no-role \[realm_access.roles\] .*sent no realm_access.roles\./],
    [
      'has none of the claims',
      { sub: 'ann' },
      /^auth.claim-missing \[groups realm_access.roles\] The provider sent no groups, realm_access.roles of Ann/,
    ],
    ['has empty claims', { groups: [], realm_access: {} }, /^auth.claim-missing/],
    [
      'has too many groups (Entra)',
      { _claim_names: { groups: 'src1' } },
      /^auth.claim-missing .*left groups out of the token of Ann, because there are too many/,
    ],
    ['has too many groups (Entra, implicit)', { hasgroups: true }, /^auth.claim-missing .*left groups out/],
  ])('%s', (_what, claims, text) => {
    expect(explain(claims)).toMatch(text);
  });
});
