import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { AGENTS_KEY, pauseAgent, readAgents, resumeAgent, type Agent } from '../../api/agents.ts';
import { ActionButton } from './action-button.tsx';

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
    return <ActionButton {...PAUSES} size={size} text={`Resume${name}`} run={() => resumeAgent(id)} done={`The agent ${id} is resumed`} />;
  }
  return (
    <ActionButton
      {...PAUSES}
      size={size}
      text={`Pause${name}`}
      run={() => pauseAgent(id)}
      done={`The agent ${id} is paused`}
      confirm={{ title: `Pause ${id}?`, text: 'Tasks that run go on. Others wait until it is resumed.', button: 'Pause' }}
    />
  );
}

/** The same for an agent of which a page knows the name only. Nothing for an agent that was removed. */
export function PauseNamedAgentButton({ id }: { id: string }): ReactElement | null {
  const { data } = useQuery({ queryKey: AGENTS_KEY, queryFn: ({ signal }) => readAgents(signal) });
  const agent = data?.find((each) => each.id === id);
  return agent === undefined ? null : <PauseAgentButton agent={agent} size="compact-xs" isNamed />;
}
