import Mustache from 'mustache';

/** A part of a template: text, a value to write, or a section with its content. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: readonly string[] }
  | { readonly kind: 'section'; readonly isInverted: boolean; readonly path: readonly string[]; readonly content: readonly TemplateNode[] };

export interface TemplateBounds {
  /** Tags of one template. */
  readonly maxTags: number;
  /** Sections in each other. */
  readonly maxDepth: number;
}

/** The library looks for the end of a tag in a time that grows with the square of the spaces before it. */
const LONG_SPACE = /\s{200}/;

/** Reads a Mustache template. Throws an error with a sentence about what is wrong with it. */
export function parseTemplate(template: string): TemplateNode[] {
  if (LONG_SPACE.test(template)) throw new Error('expected fewer than 200 spaces in a row');
  // A writer of its own, because the library's keeps every template it ever saw.
  return nodesOf(new Mustache.Writer().parse(template));
}

/** Why a template cannot be read, in a sentence; null when it can be. */
export function parseProblem(template: string): string | null {
  try {
    parseTemplate(template);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Which bound a template that can be read is over, in a sentence; null for none. */
export function sizeProblem(template: string, { maxTags, maxDepth }: TemplateBounds): string | null {
  const { tags, depth } = measure(parseTemplate(template));
  if (tags > maxTags) return `expected at most ${maxTags} tags, got ${tags}`;
  return depth > maxDepth ? `expected at most ${maxDepth} sections in each other, got ${depth}` : null;
}

/** Tokens are tuples that begin with their type; those of a section hold its content as their fifth part. */
function nodesOf(tokens: unknown): TemplateNode[] {
  return Array.isArray(tokens) ? tokens.flatMap((token: unknown) => (Array.isArray(token) ? nodeOf(token) : [])) : [];
}

function nodeOf([type, value, , , content]: readonly unknown[]): TemplateNode[] {
  const text = String(value);
  if (type === 'text') return [{ kind: 'text', text }];
  if (type === 'name' || type === '&') return [{ kind: 'value', path: pathOf(text) }];
  if (type === '#' || type === '^') return [{ kind: 'section', isInverted: type === '^', path: pathOf(text), content: nodesOf(content) }];
  if (type === '>') throw new Error('partials ({{> ...}}) are not supported');
  // Comments and changes of the delimiters write nothing.
  return [];
}

/** No names stand for `.`, the value of the section itself. */
function pathOf(name: string): string[] {
  return name === '.' ? [] : name.split('.');
}

function measure(nodes: readonly TemplateNode[]): { tags: number; depth: number } {
  let tags = 0;
  let depth = 0;
  for (const node of nodes) {
    if (node.kind !== 'text') tags += 1;
    if (node.kind !== 'section') continue;
    const inner = measure(node.content);
    tags += inner.tags;
    depth = Math.max(depth, inner.depth + 1);
  }
  return { tags, depth };
}
