import { useQuery } from '@tanstack/react-query';
import type { Agent } from '#shared/client/openapi.gen.ts';
import { api, itemsOf } from './api.ts';

const FRESH_MS = 60_000;

function useAgents(): readonly Agent[] {
  const { data } = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/agents', { signal })),
    staleTime: FRESH_MS,
  });
  return data ?? [];
}

/** The names of all agents; empty until they are loaded. */
export function useAgentNames(): readonly string[] {
  return useAgents().map(({ id }) => id);
}

/** Whether the output of an agent is the plain output of a program, and no Markdown. */
export function useHasPlainOutput(agent: string | null): boolean {
  return useAgents().some(({ id, hasPlainOutput }) => id === agent && hasPlainOutput === true);
}
