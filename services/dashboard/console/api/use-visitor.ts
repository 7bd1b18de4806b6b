import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { z } from 'zod';
import { callApi } from './call-api.ts';
import { visitorSchema } from './records.ts';

export type Visitor = z.infer<typeof visitorSchema>;

/** Who is signed in. */
export function useVisitor(): UseQueryResult<Visitor> {
  return useQuery({
    queryKey: ['visitor'],
    queryFn: ({ signal }) => callApi(visitorSchema, '/console/visitor', { signal }),
    staleTime: Infinity,
  });
}
