import { z } from 'zod';
import { ApiProblem } from '../api/api-problem.ts';
import type { Draft, FieldProblems } from './schedule-draft.ts';

const FIELDS: ReadonlySet<string> = new Set<keyof Draft>([
  'phrase',
  'message',
  'agent',
  'tz',
  'priority',
  'overlap',
  'missed',
  'name',
  'platform',
  'channel',
]);

/** The codes that are about one field. */
const FIELD_BY_CODE: Readonly<Record<string, keyof Draft>> = {
  'schedule.unreadable': 'phrase',
  'schedule.unknown-zone': 'tz',
  'schedule.platform-off': 'platform',
  'agent.unknown': 'agent',
};

const reasonSchema = z.object({ reason: z.string() });
const problemsSchema = z.object({ problems: z.array(z.object({ path: z.string(), message: z.string() })) });
/** `missed: expected ...`, where there is one problem only. */
const NAMED = /^(\w+): (.+)$/s;

/** What an answer says is wrong, at the fields that it names; null when it is about something else. */
export function fieldProblems(error: unknown): FieldProblems | null {
  if (!(error instanceof ApiProblem)) return null;
  const field = FIELD_BY_CODE[error.code];
  // The rule's accepted forms are below its field already.
  const reason = reasonSchema.safeParse(error.details);
  if (field !== undefined) return { [field]: field === 'phrase' && reason.success ? `This ${reason.data.reason}.` : error.message };
  if (error.code !== 'request.invalid') return null;
  const found = namedIn(error).filter(([name]) => FIELDS.has(name));
  return found.length === 0 ? null : Object.fromEntries(found);
}

function namedIn({ message, details }: ApiProblem): [field: string, text: string][] {
  const listed = problemsSchema.safeParse(details);
  if (listed.success) return listed.data.problems.map((problem) => [problem.path.replace('body.', ''), problem.message]);
  const [, field = '', text = ''] = NAMED.exec(message) ?? [];
  return [[field, text]];
}
