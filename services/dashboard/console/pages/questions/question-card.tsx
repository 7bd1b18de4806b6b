import type { ReactElement } from 'react';
import type { Question } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { QUESTIONS_KEY } from '../../api/query-keys.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import { Age, ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { shortHashes } from '#shared/text/short-hashes.ts';
import { sessionPath, taskPath } from '../../routing/paths.ts';
import { AnswerForm } from './answer-form.tsx';
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
  const { taskId, agent, session, status, to, by, askedAt, expiresAt } = question;
  const taskRef = { id: taskId, tenant };
  return (
    <section className={`card ${classes['question']}`} aria-label={question.question}>
      <div className={classes['head']}>
        <ToneBadge tone={TONES[status]}>{status}</ToneBadge>
        <span className="faint">{agent}</span>
        {isOfTask ? null : <PageLink href={taskPath(taskRef)}>{taskId}</PageLink>}
        {isOfTask || session === null ? null : <PageLink href={sessionPath(session)}>{session}</PageLink>}
        <span className="faint">
          asked <Age at={askedAt} of="asked" />
        </span>
        {status === 'open' && expiresAt !== null ? (
          <span className="faint">
            until <ClockTime at={expiresAt} />
          </span>
        ) : null}
        {to === null ? null : <span className="faint">for {to.join(', ')}</span>}
        {by === 'others' ? <span className="faint">not for who sent the task</span> : null}
      </div>
      <QuestionWords text={question.question} />
      {status === 'open' ? <Answering question={question} taskRef={taskRef} /> : <Answered question={question} />}
    </section>
  );
}

/** The question as a heading, and below it JSON that it names, as the input of a tool. */
function QuestionWords({ text }: { text: string }): ReactElement {
  const [first = '', ...rest] = text.split('\n');
  const { json, after } = splitJson(rest);
  return (
    <>
      <h2 className={classes['asks']}>{first}</h2>
      {json === '' ? null : <pre className={classes['json']}>{json}</pre>}
      {after === '' ? null : <p className={classes['words']}>{shortHashes(after)}</p>}
    </>
  );
}

/** The lines from a brace at the beginning of one to that which closes it there. */
function splitJson(lines: readonly string[]): { json: string; after: string } {
  const end = lines[0]?.startsWith('{') === true ? lines.findIndex((line) => line.startsWith('}') || line === '{}') : -1;
  return { json: lines.slice(0, end + 1).join('\n'), after: lines.slice(end + 1).join('\n') };
}

function Answered({ question: { status, answer, answeredBy, answeredAt } }: { question: Question }): ReactElement {
  if (status === 'withdrawn') return <p className={`faint ${classes['words']}`}>Its task ended before anybody answered.</p>;
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
  if (choices === null) return <AnswerForm question={question} answer={(answer) => answerWith(id, taskRef, answer)} />;
  return (
    <div className={classes['choices']}>
      {choices.map((choice, at) => (
        <ActionButton
          key={choice}
          primary={at === 0}
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
