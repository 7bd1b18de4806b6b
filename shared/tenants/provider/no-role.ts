import type { RoleRule } from '../../config/index.ts';
import { missingClaims, overlongClaims } from './person-roles.ts';

export interface NoRole {
  /** `auth.claim-missing`: the provider left out every claim by which roles are given, which says nothing of the person. */
  code: 'auth.no-role' | 'auth.claim-missing';
  /** Names of the claims that were left out. */
  missing: string[];
  /** The reason for people. */
  text: string;
}

interface NoRoleFacts {
  claims: Readonly<Record<string, unknown>>;
  rules: readonly RoleRule[];
  /** What people call the person. */
  name: string;
  /** Whether the claims give a role that does not count: the person, or its tenant, is disabled. */
  hasRoles: boolean;
}

/** Why a person may not sign in: no role, or no word of it by the provider. */
export function explainNoRole({ claims, rules, name, hasRoles }: NoRoleFacts): NoRole {
  const missing = missingClaims(claims, rules);
  const long = overlongClaims(claims).filter((claim) => missing.includes(claim));
  const isMissing = !hasRoles && (long.length > 0 || missing.length === new Set(rules.map(({ claim }) => claim)).size);
  if (!isMissing) {
    const left = hasRoles || missing.length === 0 ? '' : ` The provider sent no ${missing.join(', ')}.`;
    return {
      code: 'auth.no-role',
      missing,
      text: `${name} has no role here.${left} An administrator gives roles; until then sign in with a key.`,
    };
  }
  const text =
    long.length > 0
      ? `The provider left ${long.join(', ')} out of the token of ${name}, because there are too many. An administrator limits them at the provider to those of this application.`
      : `The provider sent no ${missing.join(', ')} of ${name}, and roles are given by that. An administrator has the provider add it to the ID token or the user info.`;
  return { code: 'auth.claim-missing', missing, text };
}
