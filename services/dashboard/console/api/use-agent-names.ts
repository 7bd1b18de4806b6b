import { useQuery } from '@tanstack/react-query';
import { callApi } from './call-api.ts';
import { agentSchema, listOf } from './records.ts';

const FRESH_MS = 60_000;
const agentsSchema = listOf(agentSchema);

/** The agents that there are, by name; none until they are known. */
export function useAgentNames(): readonly string[] {
  const { data } = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => callApi(agentsSchema, '/v1/agents', { signal }),
    staleTime: FRESH_MS,
  });
  return data?.items.map(({ id }) => id) ?? [];
}
