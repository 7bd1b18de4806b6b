/**
 * Tenants and their credentials: API keys with scopes, sign-ins of people and tokens of visitors. A tenant's end is a record that every
 * look-up respects.
 */
export { type ApiKey, apiKeySchema, keyDigest } from './api-key.ts';
export { cleanTenant } from './end-tenant.ts';
export { endTenant } from './end-tenant.ts';
export { ensureFirstKey } from './ensure-first-key.ts';
export { createKey, findKey, listKeyRecords, listKeys, revokeKey } from './key-store.ts';
export { patchLimits } from './tenant.ts';
export { SCOPES, type Scope, hasScope } from './api-key.ts';
export { SignInStore } from './sign-in-store.ts';
export { TenantDirectory } from './tenant-directory.ts';
export { tenantStateInLua } from './tenant-scripts.ts';
export { DEFAULT_TENANT, type Tenant, generationOf, publicTenantId, tenantNameSchema, tenantSchema } from './tenant.ts';
export { type VisitorKey, createVisitor, findVisitor, listVisitors, revokeVisitor } from './visitor-store.ts';
export { tenantClosed, tenantEnded, writeOfFleet, writeOfTenant } from './write-of-tenant.ts';
