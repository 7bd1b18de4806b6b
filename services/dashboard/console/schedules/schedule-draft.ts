import type { NewSchedule, Schedule, ScheduleChanges } from '../api/schedule-records.ts';
import { ownZone } from '../parts/zone-time.ts';

/** A schedule as it stands in the form: what is left out is empty. */
export interface Draft extends Required<Omit<NewSchedule, 'agent'>> {
  /** Until somebody picks one it is the usual one. */
  agent: string | null;
}

/** One that can be saved. */
export interface ReadyDraft extends Draft {
  agent: string;
}

/** What is sent as it stands there. */
const PLAIN = ['phrase', 'message', 'agent', 'tz', 'priority', 'overlap', 'missed'] as const;

/** What is wrong with a field, by its name. */
export type FieldProblems = Partial<Record<keyof Draft, string>>;

export interface FieldsProps {
  draft: Draft;
  problems: FieldProblems;
  onChange: (part: Partial<Draft>) => void;
}

export function emptyDraft(): Draft {
  const texts = { phrase: '', message: '', name: '', platform: '', channel: '' };
  return { ...texts, agent: null, tz: ownZone(), priority: 10, overlap: 'skip', missed: 'once' };
}

/** A schedule that is there; its rule reads as the same rule again. */
export function draftOf({ rule, message, agent, tz, priority, overlap, missed, name, platform, channel }: Schedule): ReadyDraft {
  return {
    phrase: rule,
    message,
    agent,
    tz,
    priority,
    overlap,
    missed,
    name: name ?? '',
    platform: platform ?? '',
    channel: channel ?? '',
  };
}

/** What the form asks for. */
export function scheduleOf({ name, platform, channel, ...draft }: ReadyDraft): NewSchedule {
  return { ...draft, ...(name.trim() === '' ? {} : { name: name.trim() }), ...(platform === '' ? {} : { platform, channel }) };
}

/**
 * What the form makes another way, and nothing else: whoever changes the name must neither time it anew, nor take back what somebody
 * else changed meanwhile, nor lead its results away from the chat that it was made in.
 */
export function changesOf(before: ReadyDraft, after: ReadyDraft): ScheduleChanges {
  const { platform, channel } = after;
  const name = after.name.trim();
  const changed = PLAIN.filter((field) => before[field] !== after[field]).map((field) => [field, after[field]]);
  const isSamePlace = before.platform === platform && (platform === '' || before.channel === channel);
  return {
    ...Object.fromEntries(changed),
    ...(before.name === name ? {} : { name: name === '' ? null : name }),
    ...(isSamePlace ? {} : { platform: platform === '' ? null : platform, channel: platform === '' ? null : channel }),
  };
}
