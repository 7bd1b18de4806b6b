import { keepPreviousData, useQuery, type QueryKey, type UseQueryResult } from '@tanstack/react-query';
import { useLiveRefresh, usePollInterval } from './use-live.ts';

interface LiveQueryOptions<Data> {
  queryKey: QueryKey;
  queryFn: (context: { signal: AbortSignal }) => Promise<Data>;
  /** The events after which it is read again: names, beginnings like `run.*`, or `*`. */
  kinds: readonly string[];
  /** The time between polls besides; shorter while the stream is lost. */
  everyMs?: number;
  enabled?: boolean;
}

/** Data that follow the events of the page's stream, and polls when the stream is lost. */
export function useLiveQuery<Data>({ queryKey, queryFn, kinds, everyMs, enabled = true }: LiveQueryOptions<Data>): UseQueryResult<Data> {
  useLiveRefresh(queryKey, enabled ? kinds : []);
  return useQuery<Data>({
    queryKey,
    queryFn,
    enabled,
    refetchInterval: usePollInterval(everyMs),
    placeholderData: keepPreviousData,
  });
}
