import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from './api.ts';
import { useIsInstallation, useMay } from './person.ts';

const FRESH_MS = 60_000;

/** The value of a setting, null where it is not set; undefined for keys that do not look after the fleet, and until it is read. */
export function useSetting(name: string): unknown {
  const mayAdminister = useMay('admin');
  const isInstallation = useIsInstallation();
  const { data } = useQuery({
    queryKey: ['configuration'],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/configuration', { signal })),
    enabled: mayAdminister && isInstallation,
    staleTime: FRESH_MS,
  });
  return data?.items.find((setting) => setting.name === name)?.value;
}
