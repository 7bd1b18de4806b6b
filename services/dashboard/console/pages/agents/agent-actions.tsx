import { Button, Modal } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import type { Agent } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { PauseAgentButton } from '../../parts/actions/pause-agent-button.tsx';
import { Age } from '../../parts/time.tsx';
import { Sentence } from '../../parts/text/sentence.tsx';
import { saysTime } from '../../parts/text/times-in-text.ts';
import { WarningNote } from '../../parts/notes/warning-note.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { AgentForm } from './agent-form.tsx';

/** Says that tasks of the agent do not start, and why. */
export function HoldNotice({ hold: { gate, since, reason } }: { hold: NonNullable<Agent['hold']> }): ReactElement {
  return (
    <WarningNote title={gate === 'agent' ? 'This agent is paused' : 'This agent keeps failing'}>
      <Sentence text={`Its tasks wait until it is resumed: ${reason}.`} />
      {since === null || saysTime(reason, since) ? null : (
        <>
          {' '}
          Held <Age at={since} of="held" />.
        </>
      )}
    </WarningNote>
  );
}

/** What a person may do with an agent. */
export function AgentActions({ agent }: { agent: Agent }): ReactElement {
  return (
    <>
      <PauseAgentButton agent={agent} />
      {agent.origin === 'api' ? <DefinitionActions agent={agent} /> : null}
    </>
  );
}

/** Changes of an agent that was made by API. */
function DefinitionActions({ agent }: { agent: Agent }): ReactElement | null {
  const [isEditing, setEditing] = useState(false);
  const may = useMay('operate');
  if (!may) return null;
  const close = (): void => setEditing(false);
  const remove = async (): Promise<void> => {
    await answerOf(api.DELETE('/v1/agents/{id}', byId(agent.id)));
    navigate('/agents', { replace: true });
  };
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setEditing(true)}>
        Edit
      </Button>
      <ActionButton
        needs="operate"
        danger
        text="Delete"
        run={remove}
        done={`The agent ${agent.id} is deleted`}
        refresh={[['agents']]}
        confirm={{
          title: `Delete ${agent.id}?`,
          text: 'Its tasks that wait will fail. Tasks that ended stay.',
          button: 'Delete',
          danger: true,
        }}
      />
      <Modal opened={isEditing} onClose={close} title={`Edit ${agent.id}`} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <AgentForm agent={agent} onDone={close} />
      </Modal>
    </>
  );
}
