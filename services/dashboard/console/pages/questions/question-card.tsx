import { Button, Textarea } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Question } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { QUESTIONS_KEY } from '../../api/query-keys.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { useAction } from '../../parts/actions/use-action.ts';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './questions.module.css';

const TONES: Readonly<Record<Question['status'], Tone>> = { open: 'warn', answered: 'good', expired: 'idle', withdrawn: 'idle' };

interface QuestionCardProps {
  question: Question;
  /** Whose it is; null for the person's own. */
  tenant: string | null;
  /** Whether its task is shown around it. */
  isOfTask?: boolean;
}

/** What a run asks people, with its answer or what answers it. */
export function QuestionCard({ question, tenant, isOfTask = false }: QuestionCardProps): ReactElement {
  const { taskId, agent, status, to, expiresAt } = question;
  const taskRef = { id: taskId, tenant };
  return (
    <section className={`card ${classes['question']}`} aria-label={question.question}>
      <div className={classes['head']}>
        <ToneBadge tone={TONES[status]}>{status}</ToneBadge>
        <span className="faint">{agent}</span>
        {isOfTask ? null : <PageLink href={taskPath(taskRef)}>{taskId}</PageLink>}
        {status === 'open' && expiresAt !== null ? (
          <span className="faint">
            until <ClockTime at={expiresAt} />
          </span>
        ) : null}
        {to === null ? null : <span className="faint">for {to.join(', ')}</span>}
      </div>
      <p className={classes['words']}>{question.question}</p>
      {status === 'open' ? <Answering question={question} taskRef={taskRef} /> : <Answered question={question} />}
    </section>
  );
}

function Answered({ question: { status, answer, answeredBy, answeredAt } }: { question: Question }): ReactElement {
  if (status === 'withdrawn') return <p className="faint">Its task ended before anybody answered.</p>;
  return (
    <p className={classes['words']}>
      <strong>{textOf(answer)}</strong>{' '}
      <span className="faint">
        {answeredBy === null ? 'taken, because nobody answered in time' : `by ${answeredBy.name}`}
        {answeredAt === null ? null : (
          <>
            {' at '}
            <ClockTime at={answeredAt} />
          </>
        )}
      </span>
    </p>
  );
}

function textOf(answer: unknown): string {
  if (answer === null || answer === undefined) return 'Nothing';
  return typeof answer === 'string' ? answer : JSON.stringify(answer);
}

const answerWith = (id: string, taskRef: TaskRef, answer: unknown): Promise<unknown> =>
  answerOf(api.POST('/v1/questions/{id}/answer', { ...toTask(taskRef), params: { path: { id } }, body: { answer } }));

function Answering({ question, taskRef }: { question: Question; taskRef: TaskRef }): ReactElement {
  const { id, choices } = question;
  if (choices === null) return <AnswerForm question={question} taskRef={taskRef} />;
  return (
    <div className={classes['choices']}>
      {choices.map((choice) => (
        <ActionButton
          key={choice}
          needs="answer"
          text={choice}
          run={() => answerWith(id, taskRef, choice)}
          done={`Answered: ${choice}`}
          refresh={[QUESTIONS_KEY, ['task']]}
        />
      ))}
    </div>
  );
}

/** A text, or JSON where the answer has a schema. */
function AnswerForm({ question: { id, schema }, taskRef }: { question: Question; taskRef: TaskRef }): ReactElement | null {
  const [text, setText] = useState('');
  const act = useAction();
  if (!useMay('answer')) return null;
  const onSubmit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const answer = schema === null ? text : valueOf(text);
    void act({ run: () => answerWith(id, taskRef, answer), done: 'Answered', refresh: [QUESTIONS_KEY, ['task']] });
  };
  return (
    <form className={classes['form']} onSubmit={onSubmit}>
      <Textarea
        label={schema === null ? 'Answer' : 'Answer, as JSON'}
        autosize
        minRows={2}
        maxRows={12}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        {...(schema === null ? {} : { description: JSON.stringify(schema) })}
      />
      <Button type="submit" size="xs" variant="default" disabled={text.trim() === ''}>
        Answer
      </Button>
    </form>
  );
}

/** The value of a text of JSON; another text is a value itself. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
