/** In JSON: a backslash that stands for itself, or half of a character, which is written as an escape. */
const ESCAPES = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;
const REPLACEMENT = String.raw`\ufffd`;

/**
 * JSON that the scripts read too. Half a character (a text that was cut within an emoji) is JSON here and none for them, so it
 * becomes the replacement character, as it would on any other way to Redis.
 */
export function scriptJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes(String.raw`\ud`)) return json;
  return json.replaceAll(ESCAPES, (escape) => (escape === '\\\\' ? escape : REPLACEMENT));
}
