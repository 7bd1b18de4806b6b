import type { Schedule, SchedulePatch, ScheduleRequest } from '#shared/client/openapi.gen.ts';
import { ApiProblem, bodyProblems } from '../../api/api-problem.ts';
import { ownZone } from '../../parts/zone-time.ts';

/** A schedule in the form; absent fields are empty. */
export interface Draft extends Pick<Schedule, 'message' | 'tz' | 'priority' | 'overlap' | 'missed'> {
  phrase: string;
  name: string;
  /** How long a run may take for a lower price; empty for calls at once. */
  within: string;
  /** Of the chat that receives the results. */
  platform: NonNullable<ScheduleRequest['platform']> | '';
  channel: string;
  /** Null means the usual agent, until the person picks one. */
  agent: string | null;
}

/** A draft that has an agent and can be saved. */
export interface CompleteDraft extends Draft {
  agent: string;
  /** Of a draft that is saved: the same when it is saved again after a failure. */
  idempotencyKey?: string;
}

/** The fields that are sent unchanged. */
const PLAIN = ['phrase', 'message', 'agent', 'tz', 'priority', 'overlap', 'missed'] as const;

/** The error text of each field. */
type FieldProblems = Partial<Record<keyof Draft, string>>;

export interface FieldsProps {
  draft: Draft;
  problems: FieldProblems;
  onChange: (part: Partial<Draft>) => void;
}

export function emptyDraft(): Draft {
  const texts = { phrase: '', message: '', name: '', within: '', channel: '' };
  return { ...texts, platform: '', agent: null, tz: ownZone(), priority: 10, overlap: 'skip', missed: 'once' };
}

/** Where results can go. */
const PLATFORMS = ['telegram', 'slack', 'discord', 'whatsapp', 'webchat'] as const;

/** The draft of an existing schedule; its rule parses to the same rule again. */
export function toDraft({ rule, message, agent, tz, priority, overlap, missed, name, within, platform, channel }: Schedule): CompleteDraft {
  return {
    phrase: rule,
    message,
    agent,
    tz,
    priority,
    overlap,
    missed,
    name: name ?? '',
    within: String(within ?? ''),
    platform: PLATFORMS.find((each) => each === platform) ?? '',
    channel: channel ?? '',
  };
}

/** The schedule that a draft creates. */
export function toNewSchedule({ name, within, platform, channel, ...draft }: CompleteDraft): ScheduleRequest {
  return {
    ...draft,
    ...(within === '' ? {} : { within }),
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(platform === '' ? {} : { platform, channel }),
  };
}

/**
 * The fields that differ, and no others. A new name must not recompute the times, revert another person's change, or redirect
 * results away from the chat of the schedule.
 */
export function changesOf(before: CompleteDraft, after: CompleteDraft): SchedulePatch {
  const { platform, channel } = after;
  const name = after.name.trim();
  const changed = PLAIN.filter((field) => before[field] !== after[field]).map((field) => [field, after[field]]);
  const isSameDestination = before.platform === platform && (platform === '' || before.channel === channel);
  return {
    ...Object.fromEntries(changed),
    ...(before.within === after.within ? {} : { within: after.within === '' ? null : after.within }),
    ...(before.name === name ? {} : { name: name === '' ? null : name }),
    ...(isSameDestination ? {} : { platform: platform === '' ? null : platform, channel: platform === '' ? null : channel }),
  };
}

const FIELDS: ReadonlySet<string> = new Set<keyof Draft>([
  'phrase',
  'message',
  'agent',
  'tz',
  'priority',
  'overlap',
  'missed',
  'name',
  'within',
  'platform',
  'channel',
]);

/** The field that an error code is about. */
const FIELD_BY_CODE: Readonly<Record<string, keyof Draft>> = {
  'schedule.unreadable': 'phrase',
  'schedule.unknown-zone': 'tz',
  'schedule.platform-off': 'platform',
  'agent.unknown': 'agent',
};

/** The problems of an error by field; null when it concerns no field of the form. */
export function fieldProblems(error: unknown): FieldProblems | null {
  if (!(error instanceof ApiProblem)) return null;
  const field = FIELD_BY_CODE[error.code];
  // The preview already lists the accepted forms below the field.
  const { reason } = error.details;
  if (field !== undefined) return { [field]: field === 'phrase' && typeof reason === 'string' ? `This ${reason}.` : error.message };
  const found = bodyProblems(error).filter(([name]) => FIELDS.has(name));
  return found.length === 0 ? null : Object.fromEntries(found);
}
