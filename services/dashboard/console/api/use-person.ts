import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { z } from 'zod';
import { callApi } from './call-api.ts';
import { personSchema } from './records.ts';

export type Person = z.infer<typeof personSchema>;

/** Who is signed in. */
export function usePerson(): UseQueryResult<Person> {
  return useQuery({
    queryKey: ['person'],
    queryFn: ({ signal }) => callApi(personSchema, '/console/person', { signal }),
    staleTime: Infinity,
  });
}
