import type { ReactElement } from 'react';
import type { Question } from '#shared/client/openapi.gen.ts';
import { api, itemsOf } from '../../api/api.ts';
import { QUESTIONS_KEY } from '../../api/query-keys.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { QuestionCard } from '../questions/question-card.tsx';

interface TaskQuestionsProps {
  taskRef: TaskRef;
  /** Which of them are shown; by default all. */
  isShown?: (question: Question) => boolean;
}

/** What the run of a task asked people, the open one with what answers it. */
export function TaskQuestions({ taskRef, isShown }: TaskQuestionsProps): ReactElement | null {
  const { data } = useLiveQuery({
    queryKey: [...QUESTIONS_KEY, taskRef.tenant, taskRef.id],
    queryFn: ({ signal }) =>
      itemsOf(api.GET('/v1/questions', { ...toTask(taskRef), params: { query: { taskId: taskRef.id, limit: 50 } }, signal })),
    kinds: ['question.*'],
  });
  if (!data) return null;
  return (
    <>
      {data
        .filter((question) => isShown?.(question) ?? true)
        .map((question) => (
          <QuestionCard key={question.id} question={question} tenant={taskRef.tenant} isOfTask />
        ))}
    </>
  );
}
