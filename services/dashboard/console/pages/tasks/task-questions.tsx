import type { ReactElement } from 'react';
import { api, itemsOf } from '../../api/api.ts';
import { QUESTIONS_KEY } from '../../api/query-keys.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { QuestionCard } from '../questions/question-card.tsx';

/** What the run of a task asked people, the open one with what answers it. */
export function TaskQuestions({ taskRef }: { taskRef: TaskRef }): ReactElement | null {
  const { data } = useLiveQuery({
    queryKey: [...QUESTIONS_KEY, taskRef.tenant, taskRef.id],
    queryFn: ({ signal }) =>
      itemsOf(api.GET('/v1/questions', { ...toTask(taskRef), params: { query: { taskId: taskRef.id, limit: 50 } }, signal })),
    kinds: ['question.*'],
  });
  if (!data) return null;
  return (
    <>
      {data.map((question) => (
        <QuestionCard key={question.id} question={question} tenant={taskRef.tenant} isOfTask />
      ))}
    </>
  );
}
