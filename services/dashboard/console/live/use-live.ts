import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { listenLive, liveState, subscribeLiveState, type LiveState } from './live-stream.ts';

/** Whether the stream of this page is open. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(subscribeLiveState, liveState);
}

/** The time between polls while the stream is lost, and usually with it. */
const LOST_MS = 3000;
const USUAL_MS = 15_000;

/** The time between two polls of live data. */
export function usePollInterval(everyMs = USUAL_MS): number {
  return useLiveState() === 'lost' ? Math.min(LOST_MS, everyMs) : everyMs;
}

/** Events arrive in bursts; one read answers all events of this time. */
const BATCH_MS = 500;

/** Reads what has this key again after events of these kinds, one read at a time. */
export function useLiveRefresh(queryKey: QueryKey, kinds: readonly string[]): void {
  const queries = useQueryClient();
  const key = JSON.stringify(queryKey);
  const events = kinds.join(',');
  useEffect(() => {
    if (events === '') return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wanted: readonly unknown[] = JSON.parse(key);
    const refresh = (): void => {
      timer = undefined;
      if (queries.isFetching({ queryKey: wanted }) > 0) refreshLater();
      else void queries.invalidateQueries({ queryKey: wanted });
    };
    const refreshLater = (): void => {
      timer ??= setTimeout(refresh, BATCH_MS);
    };
    const end = listenLive({ kinds: events.split(','), onEvent: refreshLater });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [queries, key, events]);
}
