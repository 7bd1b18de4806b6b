import { parseMarkdown, tableToAscii } from 'chat';

type Root = ReturnType<typeof parseMarkdown>;
type Node = Root | Root['children'][number];
type Of<Kind extends Node['type']> = Extract<Node, { type: Kind }>;

/** How WhatsApp marks what markdown marks otherwise. */
const MARKS = { strong: '*', emphasis: '_', delete: '~' } as const;
const ESCAPE = /\\([!-/:-@[-`{-~])/g;
const RULE = '━━━';

/**
 * Markdown in WhatsApp's own notation. Parts that WhatsApp writes in the same form, or does not have, stay as written, because rendering
 * them again adds entities.
 */
export function whatsappText(markdown: string): string {
  return new WhatsappText(markdown).text();
}

/** WhatsappText is responsible for one text: it replaces the parts of its source that WhatsApp would show with markdown's marks. */
class WhatsappText {
  readonly #source: string;
  readonly #root: Root;

  constructor(source: string) {
    this.#source = source;
    this.#root = parseMarkdown(source);
  }

  text(): string {
    return this.#withChildren(this.#root).trim();
  }

  #write(node: Node): string {
    if (node.type === 'text') return this.#words(node);
    if (node.type === 'strong' || node.type === 'emphasis' || node.type === 'delete') return this.#marked(node);
    if (node.type === 'link') return withAddress(this.#inner(node), node.url);
    if (node.type === 'linkReference') return this.#referred(node);
    if (node.type === 'image') return withAddress(node.alt ?? '', node.url);
    return this.#writeBlock(node);
  }

  #writeBlock(node: Node): string {
    if (node.type === 'heading') return `*${node.children.map((child) => this.#writeInHeading(child)).join('')}*`;
    if (node.type === 'definition') return '';
    if (node.type === 'thematicBreak') return RULE;
    if (node.type === 'table') return fenced(tableToAscii(node));
    if (node.type === 'code' && !/^[`~]/.test(this.#sourceOf(node))) return fenced(node.value);
    return this.#withChildren(node);
  }

  /** A heading is bold as it is. */
  #writeInHeading(node: Node): string {
    return node.type === 'strong' ? this.#inner(node) : this.#write(node);
  }

  /** Its value, where that is one line; further lines have marks of quotations and lists before them that it lacks. */
  #words(node: Of<'text'>): string {
    const source = this.#sourceOf(node);
    return source.includes('\n') ? source.replaceAll(ESCAPE, '$1') : node.value;
  }

  /** WhatsApp marks words only: between letters and digits marks were hardly meant as such (`2*3*4`), and stay as they were written. */
  #marked(node: Of<keyof typeof MARKS>): string {
    const { start, end } = placeOf(node);
    const touches = /\w/.test(this.#source.charAt(start - 1)) || /\w/.test(this.#source.charAt(end));
    if (touches) return this.#sourceOf(node);
    const mark = MARKS[node.type];
    return `${mark}${this.#inner(node)}${mark}`;
  }

  #referred(node: Of<'linkReference'>): string {
    const isMeant = (each: Node): each is Of<'definition'> => each.type === 'definition' && each.identifier === node.identifier;
    const definition = this.#root.children.find(isMeant);
    return definition === undefined ? this.#sourceOf(node) : withAddress(this.#inner(node), definition.url);
  }

  #inner(node: { children: readonly Node[] }): string {
    return node.children.map((child) => this.#write(child)).join('');
  }

  /** The source with its children written, and all between them as it was. */
  #withChildren(node: Node): string {
    const { start, end } = placeOf(node);
    if (!('children' in node)) return this.#source.slice(start, end);
    let text = '';
    let at = start;
    for (const child of node.children) {
      const place = placeOf(child);
      text += this.#source.slice(at, place.start) + this.#write(child);
      at = place.end;
    }
    return text + this.#source.slice(at, end);
  }

  #sourceOf(node: Node): string {
    const { start, end } = placeOf(node);
    return this.#source.slice(start, end);
  }
}

function placeOf({ position }: Node): { start: number; end: number } {
  return { start: position?.start.offset ?? 0, end: position?.end.offset ?? 0 };
}

function withAddress(words: string, address: string): string {
  const bare = address.replace(/^mailto:/, '');
  return words === '' || words === address || words === bare ? bare : `${words} (${bare})`;
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}
