import { z } from 'zod';
import { callApi } from './call-api.ts';
import type { LimitsPatch } from './administration-records.ts';
import { listOf } from './records.ts';

const rateSchema = z.object({ perMinute: z.number(), perHour: z.number(), burst: z.number().nullish() });
const figures = z.record(z.string(), z.number());
const rates = z.record(z.string(), rateSchema);
const tenantLimitsSchema = z.object({
  running: z.number().nullable(),
  waiting: z.number().nullable(),
  runningLow: z.number().nullable(),
  weight: z.number(),
  storedBytes: z.number().nullable(),
  maxTimeoutMs: z.number().nullable(),
  runningByClass: figures,
  runningByAgent: figures,
  rates,
});
const fleetLimitsSchema = z.object({ maxConcurrent: z.number(), runningByClass: figures, runningLow: z.number().nullable(), rates });

const tenantSchema = z.object({
  id: z.string(),
  name: z.string(),
  disabled: z.boolean(),
  limits: tenantLimitsSchema.nullable(),
  createdAt: z.string(),
});
export type Tenant = z.infer<typeof tenantSchema>;
const sizedSchema = tenantSchema.extend({
  storedBytes: z.number(),
  maxStoredBytes: z.number().nullable(),
  effectiveLimits: tenantLimitsSchema.nullable(),
});
export type SizedTenant = z.infer<typeof sizedSchema>;

export async function readTenants(signal: AbortSignal): Promise<Tenant[]> {
  return (await callApi(listOf(tenantSchema), '/v1/tenants', { signal })).items;
}

export const tenantPath = (id: string): string => `/v1/tenants/${encodeURIComponent(id)}`;

/** A tenant with the size of its data, which takes the server longer. */
export async function readTenant(id: string, signal: AbortSignal): Promise<SizedTenant> {
  return await callApi(sizedSchema, tenantPath(id), { signal });
}

export async function createTenant(id: string, name: string): Promise<void> {
  await callApi(z.unknown(), '/v1/tenants', { method: 'POST', body: { id, ...(name === '' ? {} : { name }) } });
}

export async function changeTenant(id: string, changes: { disabled?: boolean; limits?: LimitsPatch | null }): Promise<void> {
  await callApi(z.unknown(), tenantPath(id), { method: 'PATCH', body: changes });
}

export async function deleteTenant(id: string): Promise<void> {
  await callApi(z.unknown(), tenantPath(id), { method: 'DELETE' });
}

const keySchema = z.object({ id: z.string(), name: z.string(), scopes: z.array(z.string()), createdAt: z.string() });
export type ApiKey = z.infer<typeof keySchema>;
const newKeySchema = keySchema.extend({ secret: z.string() });
export type NewApiKey = z.infer<typeof newKeySchema>;

export async function readKeys(tenant: string, signal: AbortSignal): Promise<ApiKey[]> {
  return (await callApi(listOf(keySchema), `${tenantPath(tenant)}/keys`, { signal })).items;
}

export async function createKey(tenant: string, key: { name: string; scopes: string[] }): Promise<NewApiKey> {
  return await callApi(newKeySchema, `${tenantPath(tenant)}/keys`, { method: 'POST', body: key });
}

export async function revokeKey(tenant: string, id: string): Promise<void> {
  await callApi(z.unknown(), `${tenantPath(tenant)}/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

const previewSchema = z.object({
  sentence: z.string(),
  byLimit: z.array(z.object({ limit: z.string(), waited: z.number(), refused: z.number(), longestMs: z.number() })),
});
export type LimitsPreview = z.infer<typeof previewSchema>;

/** `path`: of the tenant's limits, or the fleet's. */
export async function previewLimits(path: string, limits: LimitsPatch): Promise<LimitsPreview> {
  return await callApi(previewSchema, `${path}/preview`, { method: 'POST', body: { limits } });
}

const fleetSchema = z.object({
  limits: fleetLimitsSchema,
  configured: fleetLimitsSchema,
  origin: z.enum(['config', 'api']),
  changedAt: z.string().nullable(),
  running: z.number(),
});
export type FleetLimitsView = z.infer<typeof fleetSchema>;

export const FLEET_LIMITS_PATH = '/v1/limits';

export async function readFleetLimits(signal: AbortSignal): Promise<FleetLimitsView> {
  return await callApi(fleetSchema, FLEET_LIMITS_PATH, { signal });
}

export async function changeFleetLimits(limits: LimitsPatch): Promise<void> {
  await callApi(z.unknown(), FLEET_LIMITS_PATH, { method: 'PATCH', body: limits });
}

export async function resetFleetLimits(): Promise<void> {
  await callApi(z.unknown(), FLEET_LIMITS_PATH, { method: 'DELETE' });
}
