import type { UseQueryResult } from '@tanstack/react-query';
import type { Now } from '#shared/client/openapi.gen.ts';
import { useLiveQuery } from '../live/use-live-query.ts';
import { answerOf, api } from './api.ts';
import { OPEN_QUESTIONS_KEY } from './query-keys.ts';

/** How many questions people are asked, live. */
export function useOpenQuestions(): UseQueryResult<Now['questions']> {
  return useLiveQuery({
    queryKey: OPEN_QUESTIONS_KEY,
    queryFn: async ({ signal }) => (await answerOf(api.GET('/v1/now', { params: { query: { limit: 1 } }, signal }))).questions,
    kinds: ['question.*'],
  });
}
