import { MusterError } from '#shared/errors/index.ts';

const MAX_CHARACTERS = 200;
/** Control characters have no place in a name, and would break lines in logs and prompts. */
const CONTROL = /\p{Cc}/u;

/** An event's name or a delivery's id, as it came; null when there is none. Throws `request.malformed` when it is no short line of text. */
export function readName(what: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS || CONTROL.test(value)) {
    throw new MusterError('request.malformed', `The ${what} is not a line of at most ${MAX_CHARACTERS} characters`);
  }
  return value;
}
