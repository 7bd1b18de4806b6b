import { z } from 'zod';
import { int } from '../fields.ts';

/** A claim of a person's that gives scopes in a tenant. */
const roleRuleSchema = z.strictObject({
  /** Name of the claim, such as `groups` or `email`; dots lead into nested claims, as in `realm_access.roles`. */
  claim: z.string().min(1).max(200),
  /** Values of the claim that give the role; `*` is any value. */
  values: z.array(z.string().min(1).max(500)).min(1).max(1000),
  /** The tenant in which the role counts. */
  tenant: z.string().min(1).max(63).default('default'),
  /** As those of API keys. */
  scopes: z.array(z.enum(['admin', 'operate', 'journal', 'submit', 'answer', 'read'])).min(1),
});
export type RoleRule = z.infer<typeof roleRuleSchema>;

const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$)/i;

const oidcSettingsSchema = z.strictObject({
  /** The provider: its address, below which it has `/.well-known/openid-configuration`. */
  issuer: z
    .url({ protocol: /^https?$/ })
    .refine((url) => url.startsWith('https:') || LOOPBACK.test(url), 'expected an https address; http is for this machine only'),
  clientId: z.string().min(1),
  /** `MUSTER_OIDC_CLIENT_SECRET` wins. Without one the client is a public one, with PKCE. */
  clientSecret: z.string().min(1).optional(),
  /** What people call the provider. */
  label: z.string().min(1).max(60).default('single sign-on'),
  /** What the provider is asked for. */
  scopes: z.array(z.string().min(1)).min(1).default(['openid', 'profile', 'email']),
  /** Whether claims are read from the provider's user info too. */
  userInfo: z.boolean().default(false),
  /** Who may do what. A person without a role is not let in. */
  roles: z.array(roleRuleSchema).min(1).max(1000),
  /** How far the provider's clock may be off. */
  clockToleranceMs: int(30_000, 0),
  /** How long one call of the provider may take. */
  timeoutMs: int(5000, 100),
  /** How long a person may take at the provider. */
  signInMs: int(600_000, 1000),
});
export type OidcSettings = z.infer<typeof oidcSettingsSchema>;

/** How people sign in, besides with an API key. */
export const signInSettingsSchema = z.strictObject({
  /** How long a link that signs a browser in once may be used. */
  linkMs: int(600_000, 1000),
  /** People who signed in by a provider and are remembered; with one more, the one who signed in longest ago is forgotten. */
  maxPeople: int(10_000),
  /** How long a person is remembered after the last sign-in. */
  peopleRetentionMs: int(400 * 86_400_000, 60_000),
  /** The OpenID Connect provider. */
  oidc: oidcSettingsSchema.optional(),
});
