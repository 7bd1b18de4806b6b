import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { callApi } from './call-api.ts';
import { useIsInstallation, useMay } from './person.ts';
import { listOf } from './records.ts';

const attentionSchema = z.object({
  id: z.string(),
  code: z.string(),
  level: z.string(),
  /** Of the installation, or of the tenant. */
  scope: z.enum(['fleet', 'tenant']),
  text: z.string(),
  helps: z.string(),
  since: z.string().nullish(),
  link: z.string().nullish(),
});
export type Attention = z.infer<typeof attentionSchema>;

const attentionListSchema = listOf(attentionSchema);

/** What a person should look at, worst first. */
export async function readAttention(signal: AbortSignal): Promise<Attention[]> {
  return (await callApi(attentionListSchema, '/v1/attention', { signal })).items;
}

/** Notes that somebody knows of it. */
export async function acknowledge(id: string): Promise<void> {
  await callApi(z.unknown(), `/v1/attention/${encodeURIComponent(id)}/acknowledge`, { method: 'POST' });
}

const checkSchema = z.object({
  id: z.string().nullish(),
  name: z.string(),
  state: z.enum(['ok', 'warn', 'fail', 'skip']),
  detail: z.string(),
});
export type Check = z.infer<typeof checkSchema>;
const checksSchema = listOf(checkSchema).extend({ checkedAt: z.string() });
export interface Checks extends z.infer<typeof checksSchema> {
  /** What needs attention besides: the tenant's own, and the load. */
  others: Attention[];
}

/** One after the other: the checks look at what reads much, too. */
export async function readChecks(signal: AbortSignal): Promise<Checks> {
  const checks = await callApi(checksSchema, '/v1/checks', { signal });
  const known = new Set(checks.items.flatMap(({ id }) => id ?? []));
  return { ...checks, others: (await readAttention(signal)).filter(({ id }) => !known.has(id)) };
}

const settingSchema = z.object({
  section: z.string(),
  name: z.string(),
  value: z.unknown(),
  default: z.unknown(),
  differs: z.boolean(),
});
export type Setting = z.infer<typeof settingSchema>;
const configurationSchema = listOf(settingSchema).extend({ version: z.string(), node: z.string() });
export type Configuration = z.infer<typeof configurationSchema>;

export async function readConfiguration(signal: AbortSignal): Promise<Configuration> {
  return await callApi(configurationSchema, '/v1/configuration', { signal });
}

const FRESH_MS = 60_000;

/** The value of a setting, null where it is not set; undefined for keys that do not look after the fleet, and until it is read. */
export function useSetting(name: string): unknown {
  const mayAdminister = useMay('admin');
  const isInstallation = useIsInstallation();
  const { data } = useQuery({
    queryKey: ['configuration'],
    queryFn: ({ signal }) => readConfiguration(signal),
    enabled: mayAdminister && isInstallation,
    staleTime: FRESH_MS,
  });
  return data?.items.find((setting) => setting.name === name)?.value;
}
