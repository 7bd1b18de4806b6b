/** HTML that may stand in a page as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = Html | string | number | null | undefined | readonly HtmlPart[];

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Builds HTML from a template. Every value is escaped, unless it is `Html` already; lists are joined, null and undefined are nothing. */
export function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return new Html(strings.map((text, position) => (position === 0 ? text : `${toText(parts[position - 1])}${text}`)).join(''));
}

function toText(part: HtmlPart): string {
  if (part === null || part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number')
    return String(part).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
  return part.map(toText).join('');
}
