import { QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './api-problem.ts';

const TRIES = 3;

/** Keeps answers while they are shown, and asks again when the server was away, not when it refused. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 1000,
        retry: (failures, error) => failures < TRIES && !(error instanceof ApiProblem && error.status < 500),
      },
    },
  });
}
