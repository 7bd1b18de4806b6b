import type { NewSchedule } from '../api/schedule-calls.ts';

/** A schedule as it stands in the form: what is left out is empty. */
export interface Draft extends Required<Omit<NewSchedule, 'agent'>> {
  /** Until somebody picks one it is the usual one. */
  agent: string | null;
}

export interface FieldsProps {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}

/** What the form asks for. */
export function scheduleOf({ name, platform, channel, ...draft }: Draft, agent: string): NewSchedule {
  return { ...draft, agent, ...(name.trim() === '' ? {} : { name: name.trim() }), ...(platform === '' ? {} : { platform, channel }) };
}
