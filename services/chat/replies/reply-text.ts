import { ellipsize } from '#shared/text/index.ts';

const MAX_CHARACTERS = 300;

/** The beginning of a person's text as a quotation, for platforms that do not show a slash command's text. */
export function quoteText(text: string): string {
  return `> ${ellipsize(text, MAX_CHARACTERS).replaceAll('\n', '\n> ')}`;
}

/** Code and links are shown as they are, and mention no person. */
const KEPT = /(```[\s\S]*?(?:```|$)|`[^`\n]+`|https?:\/\/[^\s<>]+)/;
/** `@name`, but not within a word as in an address; and what Slack and Discord make of it themselves: `<@id>`, `<!channel>`. */
const MENTION = /(?<!\w)@(?=\w)|<(?=[@!#])/g;
const ZERO_WIDTH_SPACE = '\u200B';
/** Look the same, and are as long as what they stand for. */
const LOOKALIKE: Readonly<Record<string, string>> = { '@': '\uFF20', '<': '\u2039' };

/**
 * The text without mentions: an agent's words may come from an unknown person, who could otherwise notify an
 * entire company. It looks the same. At most `maxCharacters` long when the text is.
 */
export function withoutMentions(text: string, maxCharacters: number): string {
  const spaced = replaceMentions(text, (mark) => `${mark}${ZERO_WIDTH_SPACE}`);
  return spaced.length <= maxCharacters ? spaced : replaceMentions(text, (mark) => LOOKALIKE[mark] ?? mark);
}

function replaceMentions(text: string, replace: (mark: string) => string): string {
  // With the capture, every second part is one to keep.
  const parts = text.split(KEPT);
  return parts.map((part, index) => (index % 2 === 1 ? part : part.replaceAll(MENTION, replace))).join('');
}
