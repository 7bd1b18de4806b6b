import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Question } from '#shared/client/openapi.gen.ts';
import { answerOf, api, queryOf } from '../../api/api.ts';
import { QUESTIONS_KEY } from '../../api/query-keys.ts';
import { useLiveRefresh, usePollInterval } from '../../live/use-live.ts';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { QuestionCard } from './question-card.tsx';

const SHOWN = 50;

interface QuestionListProps {
  /** The query of the API, without `?`. */
  search: string;
  /** Said where there is none. */
  empty: string;
  /** Of those that are found, which are shown. */
  isShown?: (question: Question) => boolean;
}

/** Questions, those of the newest task first, page by page. */
export function QuestionList({ search, empty, isShown }: QuestionListProps): ReactElement {
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
    <QueryView query={query} title="The questions could not be read">
      {({ pages }) => {
        const questions = pages.flatMap(({ items }) => items).filter((question) => isShown?.(question) ?? true);
        return (
          <>
            {questions.length === 0 && !query.hasNextPage ? <p className="faint">{empty}</p> : null}
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
  );
}
