import type { ReactElement } from 'react';
import type { Why } from '#shared/client/openapi.gen.ts';
import { shortHashes } from '#shared/text/short-hashes.ts';
import type { TaskRef } from '../../api/task-ref.ts';
import { Sentence } from '../../parts/text/sentence.tsx';
import { saysTime } from '../../parts/text/times-in-text.ts';
import { ClockTime, durationText } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import { SendEventButton } from '../hooks/send-event.tsx';
import classes from './tasks.module.css';

/** Why a task waits, what would help, and every gate on its path to a start. `event`: the name of one that its run waits for. */
export function WaitNote({ why, taskRef, event }: { why: Why; taskRef: TaskRef; event: string | null }): ReactElement {
  const { reasons, gates, estimatedStartMs, interruptions } = why;
  const names = new Set(reasons.map(({ gate }) => gate));
  const helps = [...new Set(gates.flatMap((gate) => (names.has(gate.gate) && gate.helps ? [gate.helps] : [])))];
  return (
    <section className={`card ${classes['waits']}`}>
      <h2>Why it waits</h2>
      <ul className={classes['reasons']}>
        {reasons.map((reason) => (
          <li key={`${reason.gate}/${reason.detail}`}>
            <Reason reason={reason} taskRef={taskRef} />
          </li>
        ))}
      </ul>
      {helps.map((sentence) => (
        <span key={sentence}>
          <Sentence text={sentence} />
        </span>
      ))}
      {interruptions > 0 ? (
        <span>
          Workers that shut down interrupted it {interruptions === 1 ? 'once' : `${interruptions} times in a row`}, and it started over.
        </span>
      ) : null}
      {event !== null && taskRef.tenant === null ? (
        <div>
          <SendEventButton name={event} />
        </div>
      ) : null}
      {typeof estimatedStartMs === 'number' ? (
        <span className="faint">It should start in about {durationText(estimatedStartMs)}.</span>
      ) : null}
      {gates.length > 0 ? <GateList gates={gates} first={reasons[0]?.gate} /> : null}
    </section>
  );
}

/** All gates in order; the gate that holds the task back is marked. */
function GateList({ gates, first }: { gates: Why['gates']; first: string | undefined }): ReactElement {
  return (
    <details className={classes['part']}>
      <summary>Every step to its start</summary>
      <ol className={classes['gates']}>
        {gates.map(({ gate, state, detail }, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a gate may be there twice, for two lanes
          <li key={`${gate}/${at}`} data-state={state} aria-current={gate === first && state === 'closed' ? 'step' : undefined}>
            <span className={classes['gate']}>{gate}</span>
            <span className={classes['gateState']}>{state}</span>
            <span>
              <Sentence text={shortHashes(detail)} />
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** A reason for waiting, with a link to the task that it names. */
function Reason({ reason, taskRef }: { reason: Why['reasons'][number]; taskRef: TaskRef }): ReactElement {
  const { taskId, until } = reason;
  const detail = shortHashes(reason.detail);
  const at = taskId ? detail.indexOf(taskId) : -1;
  return (
    <>
      {taskId && at >= 0 ? (
        <>
          <Sentence text={detail.slice(0, at)} />
          <PageLink href={taskPath({ id: taskId, tenant: taskRef.tenant })}>{taskId}</PageLink>
          <Sentence text={detail.slice(at + taskId.length)} />
        </>
      ) : (
        <Sentence text={detail} />
      )}
      {until && !saysTime(detail, until) ? (
        <span className="faint">
          {' '}
          (until <ClockTime at={until} />)
        </span>
      ) : null}
    </>
  );
}
