import { Button, Modal, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactElement } from 'react';
import type { Agent } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, itemsOf } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { AGENTS_KEY } from '../../api/query-keys.ts';
import { ActionButton } from './action-button.tsx';
import classes from './actions.module.css';
import { useAction } from './use-action.ts';

const MAX_REASON = 200;
const PAUSES = { needs: 'operate', refresh: [['agents']] } as const;

interface PauseAgentButtonProps {
  agent: Pick<Agent, 'id' | 'hold'>;
  size?: 'xs' | 'compact-xs';
  /** Named in the button where the page shows several agents. */
  isNamed?: boolean;
}

/** Stops the start of an agent's tasks, or lets them start again. */
export function PauseAgentButton({ agent: { id, hold }, size = 'xs', isNamed = false }: PauseAgentButtonProps): ReactElement {
  const name = isNamed ? ` ${id}` : '';
  if (hold !== null) {
    return (
      <ActionButton
        {...PAUSES}
        size={size}
        text={`Resume${name}`}
        run={() => answerOf(api.POST('/v1/agents/{id}/resume', byId(id)))}
        done={`The agent ${id} is resumed`}
      />
    );
  }
  return <PauseButton id={id} size={size} text={`Pause${name}`} />;
}

/** Asks why before it pauses: `why` of the tasks that wait shows it. */
function PauseButton({ id, size, text }: { id: string; size: 'xs' | 'compact-xs'; text: string }): ReactElement | null {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  const may = useMay(PAUSES.needs);
  const act = useAction();
  if (!may) return null;
  const close = (): void => setAsking(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    close();
    void act({
      refresh: PAUSES.refresh,
      run: () => answerOf(api.POST('/v1/agents/{id}/pause', { ...byId(id), body: reason.trim() === '' ? {} : { reason: reason.trim() } })),
      done: `The agent ${id} is paused`,
    });
  };
  return (
    <>
      <Button size={size} variant="default" onClick={() => setAsking(true)}>
        {text}
      </Button>
      <Modal opened={isAsking} onClose={close} title={`Pause ${id}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
        <form onSubmit={submit}>
          <p>Tasks that run go on. Others wait until it is resumed.</p>
          <TextInput
            label="Reason"
            description="Shown to people who ask why a task waits."
            maxLength={MAX_REASON}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            data-autofocus
          />
          <div className={classes['buttons']}>
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit">Pause</Button>
          </div>
        </form>
      </Modal>
    </>
  );
}

/** The same for an agent of which a page knows the name only. Nothing for an agent that was removed. */
export function PauseNamedAgentButton({ id }: { id: string }): ReactElement | null {
  const { data } = useQuery({ queryKey: AGENTS_KEY, queryFn: ({ signal }) => itemsOf(api.GET('/v1/agents', { signal })) });
  const agent = data?.find((each) => each.id === id);
  return agent === undefined ? null : <PauseAgentButton agent={agent} size="compact-xs" isNamed />;
}
