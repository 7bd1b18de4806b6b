import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { answerOf, api, queryOf } from '../../api/api.ts';
import { QUESTIONS_KEY } from '../../api/query-keys.ts';
import { useLiveRefresh, usePollInterval } from '../../live/use-live.ts';
import { FilterBar, type FilterField } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import { QuestionCard } from './question-card.tsx';

const SHOWN = 50;
const FILTERS = { status: 'text' } as const;
const STATUSES = ['open', 'answered', 'expired', 'withdrawn'];
const FIELDS: readonly FilterField[] = [
  { name: 'status', kind: 'pick', label: 'Status', choices: STATUSES.map((value) => ({ value, label: value })) },
];

/** What runs ask people, those of the newest task first. */
export function Page(): ReactElement {
  const filters = useFilters(FILTERS);
  const { search } = filters;
  const queryKey = [...QUESTIONS_KEY, search];
  useLiveRefresh(queryKey, ['question.*']);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/v1/questions', {
          params: { query: queryOf<'listQuestions'>(search, { limit: SHOWN, cursor: pageParam ?? undefined }) },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: usePollInterval(),
  });
  return (
    <PageFrame title="Questions">
      <FilterBar filters={filters} fields={FIELDS} />
      <QueryView query={query} title="The questions could not be read">
        {({ pages }) => {
          const questions = pages.flatMap(({ items }) => items);
          return (
            <>
              {questions.length === 0 && !query.hasNextPage ? (
                <p className="faint">{filters.count > 0 ? 'No question fits the filter.' : 'No run asks anything.'}</p>
              ) : null}
              {questions.map((question) => (
                <QuestionCard key={question.id} question={question} tenant={null} />
              ))}
              {query.hasNextPage ? (
                <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  More
                </Button>
              ) : null}
            </>
          );
        }}
      </QueryView>
    </PageFrame>
  );
}
