import { stripVTControlCharacters } from 'node:util';

// oxlint-disable-next-line no-control-regex -- these are what it takes out
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

/** Text from elsewhere without what would steer a terminal: whole escape sequences, then what is left of them. Line breaks and tabs stay. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r\n', '\n').replaceAll(CONTROLS, '');
}

const UNESCAPED = /[\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;

/** JSON in which nothing steers a terminal: `JSON.stringify` leaves some controls as they are. */
export function plainJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return json.replaceAll(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same on one line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  return cut(plainText(text).replaceAll(/\s+/g, ' ').trim(), width);
}

/** At most `width` characters; an ellipsis says that something is missing. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(width - 1, 0)).join('')}…`;
}
