import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';

/** Reads the next page as soon as the one before is there, while `isWanted`. */
export function useFollowedPages(query: UseInfiniteQueryResult, isWanted: boolean): void {
  const { isFetching, hasNextPage, isError, fetchNextPage } = query;
  const isDue = isWanted && hasNextPage && !isError && !isFetching;
  useEffect(() => {
    if (isDue) void fetchNextPage();
  }, [isDue, fetchNextPage]);
}
