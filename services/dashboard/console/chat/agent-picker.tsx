import { NativeSelect } from '@mantine/core';
import type { ReactElement } from 'react';
import { useAgentNames } from '../api/use-agent-names.ts';

export interface AgentPickerProps {
  /** Null for the one that the configuration names. */
  agent: string | null;
  onPick: (agent: string | null) => void;
}

/** Who answers. */
export function AgentPicker({ agent, onPick }: AgentPickerProps): ReactElement {
  const names = useAgentNames();
  return (
    <NativeSelect
      aria-label="Agent"
      size="xs"
      value={agent ?? ''}
      onChange={(event) => onPick(event.currentTarget.value === '' ? null : event.currentTarget.value)}
      data={[{ value: '', label: 'Usual agent' }, ...names.map((name) => ({ value: name, label: name }))]}
    />
  );
}
