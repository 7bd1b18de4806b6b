import type { RoleRule } from '../../config/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { plainLine, truncate } from '../../text/index.ts';
import { areDisabled, EVERYWHERE, type Role } from '../person-store.ts';
import type { TenantDirectory } from '../tenant-directory.ts';

type Claims = Readonly<Record<string, unknown>>;

/** The roles that a person's claims give, one per tenant, in the order of the rules. Rules for tenants that do not exist give none. */
export function rolesOf(claims: Claims, rules: readonly RoleRule[], tenants: Pick<TenantDirectory, 'find'>): Role[] {
  const roles = new Map<string, Role>();
  for (const rule of rules) {
    const tenant = tenants.find(rule.tenant);
    if (tenant === null || !fits(claims, rule)) continue;
    const before = roles.get(tenant.id)?.scopes ?? [];
    roles.set(tenant.id, { tenant: tenant.id, scopes: [...new Set([...before, ...rule.scopes])] });
  }
  return [...roles.values()];
}

interface PersonPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** Of a person's roles those that nobody has taken: an administrator disables a person in a tenant, or everywhere. */
export async function rolesLeft(ports: PersonPorts, id: string, roles: readonly Role[]): Promise<Role[]> {
  const places = [EVERYWHERE, ...roles.map(({ tenant }) => tenant)];
  const [everywhere, ...taken] = (await Promise.all(places.map((place) => areDisabled(ports, [id], place)))).flat();
  return everywhere === true ? [] : roles.filter((_role, position) => taken[position] !== true);
}

function fits(claims: Claims, { claim, values }: RoleRule): boolean {
  // Whoever may choose an address freely could choose another person's.
  if (claim === 'email' && claims['email_verified'] !== true) return false;
  const held = textsOf(valueOf(claims, claim));
  return held.length > 0 && (values.includes('*') || held.some((value) => values.includes(value)));
}

/** The claims of the rules that the provider left out, which says nothing of the person. */
export function missingClaims(claims: Claims, rules: readonly RoleRule[]): string[] {
  const names = [...new Set(rules.map(({ claim }) => claim))];
  return names.filter((name) => textsOf(valueOf(claims, name)).length === 0);
}

/** Claims that were too long for a token: Entra names them and where to read them instead, or says only that there are groups. */
export function overlongClaims({ _claim_names: names, hasgroups }: Claims): string[] {
  const named = typeof names === 'object' && names !== null ? Object.keys(names) : [];
  return hasgroups === true || hasgroups === 'true' ? [...new Set([...named, 'groups'])] : named;
}

/** A name with dots is a claim of that name, or else leads into nested ones. */
function valueOf(claims: Claims, name: string): unknown {
  return claims[name] ?? nested(claims, name.split('.'));
}

function nested(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return nested(Object.getOwnPropertyDescriptor(value, name)?.value, rest);
}

/** A claim is one text or a list of them; a boolean or number counts as its text. */
function textsOf(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.filter((each) => ['string', 'number', 'boolean'].includes(typeof each)).map(String);
}

const MAX_NAME = 200;

/** What people call the person. */
export function nameOf(claims: Claims, subject: string): string {
  const names = [claims['name'], claims['preferred_username'], claims['email'], subject];
  const name = names.map((each) => (typeof each === 'string' ? plainLine(each) : '')).find((each) => each !== '');
  return truncate(name ?? subject, MAX_NAME);
}

export function emailOf(claims: Claims): string | null {
  const { email } = claims;
  return typeof email === 'string' ? truncate(plainLine(email), MAX_NAME) : null;
}
