import { useQuery } from '@tanstack/react-query';
import { api, itemsOf } from '../../api/api.ts';
import { AGENTS_KEY } from '../../api/query-keys.ts';

/** What a person should know who retries tasks of an agent that a person paused; null for others. */
export function usePausedAgent(agent: string | null): string | null {
  const { data } = useQuery({
    queryKey: AGENTS_KEY,
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/agents', { signal })),
    enabled: agent !== null,
  });
  const hold = data?.find(({ id }) => id === agent)?.hold;
  return hold?.gate === 'agent' ? `The agent ${agent} is paused: a retry waits until it is resumed.` : null;
}
