import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import type { Delivery, TaskWithProgress } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, itemsOf } from '../../api/api.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import { ClockTime } from '../../parts/time.tsx';
import classes from './tasks.module.css';

const POLL_MS = 3000;

const TONES: Readonly<Record<string, Tone>> = { delivered: 'good', failed: 'bad', unknown: 'warn', pending: 'busy' };
const RETRYABLE = new Set(['failed', 'unknown']);

/** What the task's end was sent to: a chat, a callback; nothing when it is sent nowhere. */
export function TaskDeliveries({ task, taskRef }: { task: TaskWithProgress; taskRef: TaskRef }): ReactElement | null {
  const queryKey = ['task', taskRef.tenant, taskRef.id, 'deliveries'];
  const { data = [], error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/tasks/{id}/deliveries', { ...toTask(taskRef), signal })),
    refetchInterval: ({ state }) => (isSettled(task, state.data) ? false : POLL_MS),
  });
  if (error !== null) return <ProblemNote title="Its deliveries could not be read" error={error} />;
  if (data.length === 0 && !task.callbackUrl) return null;
  return (
    <section className="card">
      <h2>Deliveries</h2>
      {data.length === 0 ? <p className="faint">The callback to {task.callbackUrl} is sent when the task has ended.</p> : null}
      <ul className={classes['attempts']}>
        {data.map((delivery) => (
          <li key={delivery.id}>
            <DeliveryLine delivery={delivery} callbackUrl={task.callbackUrl ?? null} />
            {RETRYABLE.has(delivery.status) && taskRef.tenant === null ? (
              <ActionButton
                needs="submit"
                text="Send it again"
                icon="play"
                run={() => answerOf(api.POST('/v1/deliveries/{id}/retry', byId(delivery.id)))}
                done="It is sent again"
                refresh={[queryKey]}
              />
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf({ kind, platform }: Delivery): string {
  if (kind === 'reply') return `Reply${platform ? ` by ${platform}` : ''}`;
  return kind === 'question' ? 'Callback of a question' : 'Callback';
}

function DeliveryLine({ delivery, callbackUrl }: { delivery: Delivery; callbackUrl: string | null }): ReactElement {
  const { kind, status, attempts, error, deliveredAt, nextTryAt } = delivery;
  return (
    <>
      <div className={classes['line']}>
        <strong>{nameOf(delivery)}</strong>
        <ToneBadge tone={TONES[status] ?? 'idle'}>{status}</ToneBadge>
        <span>{attempts === 1 ? '1 try' : `${attempts} tries`}</span>
        {deliveredAt ? (
          <span className="faint">
            delivered <ClockTime at={deliveredAt} of="delivered" />
          </span>
        ) : null}
        {nextTryAt ? (
          <span className="faint">
            next try <ClockTime at={nextTryAt} of="next try" />
          </span>
        ) : null}
      </div>
      {kind !== 'reply' && callbackUrl !== null ? <code className={classes['words']}>{callbackUrl}</code> : null}
      {error ? (
        <p className={classes['words']}>
          <strong>{error.code}</strong> {error.message}
        </p>
      ) : null}
    </>
  );
}

/** A delivery appears soon after its task has ended, where there is one at all. */
function isSettled(task: TaskWithProgress, deliveries: readonly Delivery[] | undefined): boolean {
  if (!isTerminal(task.status) || deliveries === undefined) return false;
  return deliveries.every(({ status }) => status === 'delivered' || RETRYABLE.has(status)) && (deliveries.length > 0 || !task.callbackUrl);
}
