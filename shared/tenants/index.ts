/**
 * Tenants and their credentials: API keys with scopes, sign-ins, people of a provider with their roles, and tokens of visitors. A tenant's end is a record that every
 * look-up respects. `fleet-limits` has the limits of all tenants together: the configuration's or those set live, as each process knows
 * them without a round trip; their rates; and the shares of tenants in their caps on what runs. `sealing` keeps texts in Redis that only the
 * fleet's key opens. `provider` is the identity provider of a company: its description, its tokens, and the roles that its claims give.
 */
export { type AdmittedKey, KeyAdmissions } from './admit-key.ts';
export { cleanTenant, endTenant, removeTenantData } from './end-tenant.ts';
export { ensureFirstKey } from './ensure-first-key.ts';
export { configuredFleetLimits, FleetLimitsDirectory, patchFleetLimits } from './fleet-limits/fleet-limits-directory.ts';
export { FleetRates } from './fleet-limits/fleet-rates.ts';
export { divideCaps, type FleetShare, runningCaps, saveShares, type TenantDemand } from './fleet-limits/fleet-shares.ts';
export {
  type ApiKey,
  SCOPES,
  type Scope,
  apiKeySchema,
  createKey,
  findKey,
  findKeyByDigest,
  hasScope,
  keyDigest,
  listKeyRecords,
  listKeys,
  revokeKey,
} from './key-store.ts';
export { AccessTokens } from './provider/access-tokens.ts';
export { explainNoRole } from './provider/no-role.ts';
export { emailOf, missingClaims, nameOf, rolesLeft, rolesOf } from './provider/person-roles.ts';
export { ProviderTokens } from './provider/provider-tokens.ts';
export { openRecord, type RecordPlace, sealRecord } from './sealing/sealed-records.ts';
export { countSecrets, sealAllSecrets } from './sealing/tenant-secrets.ts';
export { Seal } from './sealing/seal.ts';
export { type SignInLink, SignInLinks, signInLinkPath } from './sign-in-links.ts';
export {
  areDisabled,
  disablePerson,
  endSignIns,
  EVERYWHERE,
  forgetPerson,
  iteratePeople,
  type PeopleBounds,
  type Person,
  type PersonPlace,
  personId,
  readPersonById,
  savePerson,
} from './person-store.ts';
export { providerSession, type SignInSubject, SignInStore } from './sign-in-store.ts';
export { TenantDirectory } from './tenant-directory.ts';
export { DEFAULT_TENANT, type Tenant, generationOf, patchLimits, publicTenantId, tenantNameSchema, tenantSchema } from './tenant.ts';
export { type VisitorKey, createVisitor, findVisitor, listVisitors, removeVisitors, revokeVisitor } from './visitor-store.ts';
export { tenantClosed, tenantEnded, tenantStateInLua, writeOfFleet, writeOfTenant } from './write-of-tenant.ts';
export { CHANGES_KNOWN_MS, countChange, RecordChanges } from './record-changes.ts';
