import type { AuditActor } from '../../audit/index.ts';
import type { Asked } from '../../config/index.ts';
import { knownUser, type TaskBody } from '../../tasks/index.ts';
import type { ApiKey } from '../../tenants/index.ts';

/** Who answered a question, as the record keeps it. */
export type AnsweredBy = Pick<AuditActor, 'kind' | 'id' | 'name'>;

/** Somebody who answers. */
export interface Answerer extends AnsweredBy {
  /** What `to` of a question may call them. */
  names: readonly string[];
}

/** `to` of a question that visitors of its session may answer. */
const VISITORS = 'visitors';

/** Who answers with a key. A visitor's name is what somebody called them, and a person's what they call themselves: neither says who they are. */
export function answererOf({ id, name, session, person }: ApiKey): Answerer {
  if (session !== undefined) return { kind: 'visitor', id, name, names: [VISITORS, `visitor:${id}`] };
  if (person) return { kind: 'person', id, name, names: person.email === null ? [id] : [id, person.email] };
  return { kind: 'key', id, name, names: [id, name] };
}

/** Why somebody may not answer, in words; null for who may. The scope has been checked. */
export function refusalOf(
  asked: Pick<Asked, 'to' | 'by'>,
  body: Pick<TaskBody, 'keyId' | 'visitor' | 'user' | 'isUserClaimed'>,
  { kind, id, names }: Answerer,
): string | null {
  const isNamed = asked.to?.some((name) => names.includes(name)) ?? kind !== 'visitor';
  if (!isNamed) return asked.to === null ? 'Visitors do not answer this question' : `The question is for ${asked.to.join(', ')}`;
  const authors = new Set([body.keyId, body.visitor, knownUser(body)]);
  const isAuthor = [id, ...names].some((name) => authors.has(name));
  return asked.by === 'others' && isAuthor ? 'The question is for somebody else than who sent the task' : null;
}
