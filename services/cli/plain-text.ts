// oxlint-disable-next-line no-control-regex -- these are what it takes out
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

/** Text from elsewhere without what would steer a terminal. Line breaks and tabs stay. */
export function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(CONTROLS, '');
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
