/** Slack's own marks in what people write: https://docs.slack.dev/messaging/formatting-message-text#retrieving-messages */
const MARK = /<([@#!]|(?=[a-z][\w+.-]*:))([^<>|]+)(?:\|([^<>]*))?>/gi;
const ESCAPE = /&(amp|lt|gt);/g;
const ESCAPED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' };

/**
 * What a person wrote, from how Slack writes it (`<@id|name>`, `<address|words>`, `&amp;`), with all else as it stands: read as
 * markdown and written again, `__init__` and `2 * 3 * 4` would be something else, and a list or a quotation a bare text.
 */
export function slackText(text: string): string {
  return text
    .replaceAll(MARK, (_, kind: string, id: string, words?: string) => shownAs(kind, id, words))
    .replaceAll(ESCAPE, (_, name: string) => ESCAPED[name] ?? '');
}

function shownAs(kind: string, id: string, words = ''): string {
  if (kind === '@' || kind === '#') return `${kind}${words === '' ? id : words}`;
  // `<!here>`, and with words: groups of people and dates.
  if (kind === '!') return words === '' ? `@${id}` : words;
  return words === '' || words === id || id === `mailto:${words}` ? id.replace(/^mailto:/, '') : `[${words}](${id})`;
}
