import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { callApi } from './call-api.ts';
import { useIsInstallation, useMay } from './person.ts';
import { listOf } from './records.ts';

const checkSchema = z.object({ name: z.string(), state: z.enum(['ok', 'warn', 'fail', 'skip']), detail: z.string() });
export type Check = z.infer<typeof checkSchema>;
const checksSchema = listOf(checkSchema).extend({ checkedAt: z.string() });
export type Checks = z.infer<typeof checksSchema>;

export async function readChecks(signal: AbortSignal): Promise<Checks> {
  return await callApi(checksSchema, '/v1/checks', { signal });
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
