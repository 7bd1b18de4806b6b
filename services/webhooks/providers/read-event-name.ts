import { readField } from './read-field.ts';
import { readName } from './read-name.ts';

/** What an event is called whose sender gives it no name. */
const UNNAMED_EVENT = 'unknown';

/** The event's name: the header's, else the payload's `type`, else its `event` when that is a name. Throws `request.malformed`. */
export function readEventName(payload: unknown, header: string | null): string {
  const name = readName('event', header) ?? readName('type', readField(payload, 'type'));
  if (name !== null) return name;
  const event = readField(payload, 'event');
  return (typeof event === 'string' ? readName('event', event) : null) ?? UNNAMED_EVENT;
}
