import type { Source, SourceClass } from '../config/index.ts';
import { PRIORITY_NAMES } from './priority.ts';

/** The class by which a source's tasks are counted, for caps and rates. */
export const CLASS_OF: Readonly<Record<Source, SourceClass>> = {
  chat: 'user',
  api: 'user',
  proactive: 'proactive',
  webhook: 'webhook',
  schedule: 'schedule',
  delegation: 'delegation',
};

/** Letters of the source classes, as grants and caps are counted by them. */
export const CLASS_LETTERS = { delegation: 'd', proactive: 'p', schedule: 's', user: 'u', webhook: 'w' } as const satisfies Record<
  SourceClass,
  string
>;

/** What a task counts as for caps: the letter of its source class, and 0 for low priority, else 1. */
export function capClass(source: Source, priority: number): string {
  return `${CLASS_LETTERS[CLASS_OF[source]]}${priority === PRIORITY_NAMES.low ? 0 : 1}`;
}
