import { QueryClient, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { z } from 'zod';
import { ApiProblem } from './api-problem.ts';
import { callApi } from './call-api.ts';
import { agentSchema, listOf, personSchema } from './records.ts';

const TRIES = 3;

/** Caches answers while they are shown. Retries when the server was away, not when it refused. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 1000,
        retry: (failures, error) => failures < TRIES && !(error instanceof ApiProblem && error.status < 500),
      },
    },
  });
}

type Person = z.infer<typeof personSchema>;

/** The person who is signed in. */
export function usePerson(): UseQueryResult<Person> {
  return useQuery({
    queryKey: ['person'],
    queryFn: ({ signal }) => callApi(personSchema, '/console/person', { signal }),
    staleTime: Infinity,
  });
}

const FRESH_MS = 60_000;
const agentsSchema = listOf(agentSchema);

/** The names of all agents; empty until they are loaded. */
export function useAgentNames(): readonly string[] {
  const { data } = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => callApi(agentsSchema, '/v1/agents', { signal }),
    staleTime: FRESH_MS,
  });
  return data?.items.map(({ id }) => id) ?? [];
}
