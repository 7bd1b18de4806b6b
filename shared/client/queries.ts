import type { operations } from './openapi.gen.ts';

/** The filters of a list. Its pages are the client's concern. */
type QueryOf<Operation extends keyof operations> = Omit<NonNullable<operations[Operation]['parameters']['query']>, 'cursor'>;

export type ListTasksQuery = QueryOf<'listTasks'>;
export type ListSchedulesQuery = QueryOf<'listSchedules'>;
export type ListScheduleRunsQuery = QueryOf<'listScheduleRuns'>;
export type ListSessionsQuery = QueryOf<'listSessions'>;
export type ListQuestionsQuery = QueryOf<'listQuestions'>;
