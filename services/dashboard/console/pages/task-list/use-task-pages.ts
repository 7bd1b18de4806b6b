import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';
import type { Task, TaskList } from '#shared/client/openapi.gen.ts';
import { answerOf, api, queryOf } from '../../api/api.ts';
import { useFollowedPages } from '../../live/use-followed-pages.ts';
import { useLiveRefresh, usePollInterval } from '../../live/use-live.ts';
import { countText } from '../../parts/numbers.tsx';
import { useDataKey } from '../../parts/table/data-key.ts';
import { durationText } from '../../parts/time.tsx';

const KINDS = ['task.*'];
/** Further pages are read again one after the other, so a long list does not follow events. */
const MAX_LIVE_PAGES = 3;
/** Rows for which a search goes on by itself, and pages that it reads for them at most. */
const WANTED_ROWS = 50;
const MAX_FOLLOWED_PAGES = 500;

/** The pages of a list, and whether further ones are being read by themselves. */
export interface TaskPages {
  readonly query: UseInfiniteQueryResult<InfiniteData<TaskList>>;
  readonly isSearching: boolean;
  /** The search whose pages they are; those of another one stay until its own are there. */
  readonly of: string;
}

const PAGE_ROWS = 100;

/** The pages of a list. Where no index answers, further ones are read by themselves until some rows are found. */
export function useTaskPages(search: string): TaskPages {
  const queryKey = ['tasks', 'list', search];
  const everyMs = usePollInterval();
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/v1/tasks', {
          params: { query: queryOf<'listTasks'>(search, { limit: PAGE_ROWS, cursor: pageParam ?? undefined }) },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) => (isLive(state.data?.pages) ? everyMs : false),
    refetchOnMount: ({ state }) => isLive(state.data?.pages),
    refetchOnWindowFocus: ({ state }) => isLive(state.data?.pages),
    placeholderData: (before) => before,
  });
  const of = useDataKey(search, query.isPlaceholderData);
  const pages = query.data?.pages;
  useLiveRefresh(queryKey, isLive(pages) ? KINDS : []);
  const isSearching = !query.isPlaceholderData && !query.isError && mayFollow(pages);
  useFollowedPages(query, isSearching);
  return { query, isSearching, of };
}

/** Whether the list is short enough to be read again, and no search through many tasks. */
function isLive(pages: readonly TaskList[] = []): boolean {
  return pages.length <= MAX_LIVE_PAGES && !isUnfinishedSearch(pages);
}

/** A page of which most tasks fit is none, although occurrences that were skipped were left out of it. */
function isSearch(pages: readonly TaskList[]): boolean {
  return Boolean(pages.at(-1)?.search) && rowCount(pages) * 2 < scannedBy(pages);
}

function isUnfinishedSearch(pages: readonly TaskList[]): boolean {
  return isSearch(pages) && pages.at(-1)?.nextCursor !== null;
}

function rowCount(pages: readonly TaskList[]): number {
  return pages.reduce((sum, { items }) => sum + items.length, 0);
}

function scannedBy(pages: readonly TaskList[]): number {
  return pages.reduce((sum, { search }) => sum + (search?.scanned ?? 0), 0);
}

function mayFollow(pages: readonly TaskList[] = []): boolean {
  return isUnfinishedSearch(pages) && rowCount(pages) < WANTED_ROWS && pages.length < MAX_FOLLOWED_PAGES;
}

/** The rows of all pages. A task may be in two pages when others came between the reads. */
export function rowsOf(pages: readonly TaskList[]): Task[] {
  return [...new Map(pages.flatMap(({ items }) => items).map((task) => [task.id, task])).values()];
}

/** How far a search has read that no index answers; null when one did. */
export function searchedText(pages: readonly TaskList[]): string | null {
  const last = pages.at(-1)?.search;
  if (!last || !isSearch(pages)) return null;
  const scanned = scannedBy(pages);
  const back = last.back ? `, accepted in the last ${durationText(Date.now() - Date.parse(last.back))}` : '';
  return `Searched ${countText(scanned)} tasks${back}.`;
}
