import { expect, test } from 'vitest';
import { hookDraftSchema, hookPatchSchema, viewHook } from '../../../services/webhooks/hook.ts';

const GITHUB = { provider: 'github', secret: 's3cret', agent: 'echo' };

test('a hook needs a provider, its secret and an agent; the rest has defaults', () => {
  expect(hookDraftSchema.parse(GITHUB)).toEqual({
    ...GITHUB,
    name: null,
    options: null,
    template: null,
    session: null,
    priority: null,
    directives: false,
    event: null,
    enabled: true,
  });
});

test.each([
  ['no provider', { ...GITHUB, provider: undefined }],
  ['an unknown provider', { ...GITHUB, provider: 'bitbucket' }],
  ['no secret', { ...GITHUB, secret: undefined }],
  ['an empty secret', { ...GITHUB, secret: '' }],
  ['a secret of spaces', { ...GITHUB, secret: '  ' }],
  ['no agent', { ...GITHUB, agent: undefined }],
  ['an agent that cannot be', { ...GITHUB, agent: '../echo' }],
  ['an unknown field', { ...GITHUB, retries: 3 }],
  ['a broken template', { ...GITHUB, template: '{{#a}}' }],
  ['a partial in its template', { ...GITHUB, template: '{{> other}}' }],
  ['a broken session', { ...GITHUB, session: '{{a' }],
  ['a template over 16,384 characters', { ...GITHUB, template: 'x'.repeat(16_385) }],
  ['a priority of 11', { ...GITHUB, priority: 11 }],
  ['options where the provider has none', { ...GITHUB, options: { eventHeader: 'X-Event' } }],
  ['a standard secret that is not base64', { ...GITHUB, provider: 'standard', secret: 'whsec_!' }],
  ['hmac without options', { ...GITHUB, provider: 'hmac' }],
  ['hmac without a header', { ...GITHUB, provider: 'hmac', options: { eventHeader: 'X-Event' } }],
  ['none with a secret', { ...GITHUB, provider: 'none' }],
  ['none with hmac options', { provider: 'none', agent: 'echo', options: { header: 'X-Signature' } }],
])('a hook with %s is refused', (_, draft) => {
  expect(hookDraftSchema.safeParse(draft).success).toBe(false);
});

test.each([
  { provider: 'none', agent: 'echo' },
  { provider: 'none', agent: 'echo', options: { eventHeader: 'X-Event' } },
  { provider: 'hmac', agent: 'echo', secret: 's', options: { header: 'X-Signature', algorithm: 'sha512' } },
  { provider: 'standard', agent: 'echo', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
])('the hook %j is taken', (draft) => {
  expect(hookDraftSchema.safeParse(draft).success).toBe(true);
});

test.each([
  ['hmac', { header: 'X-S', algorithm: 'md5' }, 'options.algorithm', 'Invalid option: expected one of "sha1"|"sha256"|"sha512"'],
  ['hmac', { header: 'X-S', encoding: 'base32' }, 'options.encoding', 'Invalid option: expected one of "hex"|"base64"'],
  ['hmac', { header: 'X-S', toleranceMs: 1 }, 'options.toleranceMs', 'Too small: expected number to be >=1000'],
  ['hmac', { algorithm: 'sha1' }, 'options.header', 'Invalid input: expected string, received undefined'],
  ['hmac', { header: 'X-S', algoritm: 'sha1' }, 'options', 'Unrecognized key: "algoritm"; "algorithm" may be meant'],
  ['hmac', null, 'options', 'provider hmac needs header, and takes algorithm, encoding, prefix, '],
  ['github', { equalBodies: 'two' }, 'options.equalBodies', 'Invalid option: expected one of "one"|"each"'],
  ['github', { header: 'X-S' }, 'options', 'Unrecognized key: "header"; taken are equalBodies'],
  ['stripe', { header: 'X-S' }, 'options', 'provider stripe has no options'],
] as const)('the options of %s %j are refused with the field and what is expected', (provider, options, path, message) => {
  const { issues = [] } = hookDraftSchema.safeParse({ provider, secret: 's3cret', agent: 'echo', options }).error ?? {};
  expect(issues.map((issue) => [issue.path.join('.'), issue.message.slice(0, message.length)])).toContainEqual([path, message]);
});

test('a change brings in no defaults', () => {
  expect(hookPatchSchema.parse({ name: 'Pull requests' })).toEqual({ name: 'Pull requests' });
});

test('what callers see has no secret', () => {
  const stamps = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };
  const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const view = viewHook(
    { ...hookDraftSchema.parse(GITHUB), formerSecrets: [{ secret: 'former-s3cret', endsAtMs: 1 }], id, tenant: 'acme', ...stamps },
    2,
  );
  expect(JSON.stringify(view)).not.toContain('s3cret');
  expect(view).toEqual({
    id,
    path: `/hooks/${id}`,
    provider: 'github',
    agent: 'echo',
    name: null,
    options: null,
    template: null,
    session: null,
    priority: null,
    directives: false,
    event: null,
    enabled: true,
    formerSecretUntil: null,
    ...stamps,
  });
});
