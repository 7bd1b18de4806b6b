import { posix } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { pageOf, sourceOf } from '../sources.ts';

/** A link to a file that is a page of the site leads to that page; of any other file of the repository its path is shown instead. */
export function resolveLinks(markdown: MarkdownRenderer): void {
  // Before VitePress's own rules, which check that the pages are there.
  markdown.core.ruler.push('links-of-the-repository', ({ env, tokens }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { relativePath } = env as Environment;
    for (const { children } of tokens) {
      const open: LinkToken[] = [];
      for (const token of children ?? []) {
        if (token.type === 'link_open') open.push(pointToPage(token, relativePath));
        if (token.type === 'link_close') token.tag = open.pop()?.tag ?? 'a';
      }
    }
  });
  const render = markdown.renderer.rules['link_open'];
  markdown.renderer.rules['link_open'] = (...args) => {
    const [tokens, index, options, , renderer] = args;
    return tokens[index]?.tag === 'a' && render ? render(...args) : renderer.renderToken(tokens, index, options);
  };
}

/** What VitePress hands to the rules of a page. */
interface Environment {
  readonly relativePath: string;
}

interface LinkToken {
  tag: string;
  attrs: [string, string][] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

function pointToPage(token: LinkToken, relativePath: string): LinkToken {
  const href = token.attrGet('href') ?? '';
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return token;
  const [path = '', anchor] = href.split('#');
  const file = posix.normalize(posix.join(posix.dirname(sourceOf(relativePath)), decodeURI(path)));
  const page = pageOf(file);
  if (page === null) {
    token.tag = 'span';
    token.attrs = [
      ['class', 'source'],
      ['title', `${file} in the repository`],
    ];
    return token;
  }
  token.attrSet('href', `/${page}${anchor === undefined ? '' : `#${anchor}`}`);
  return token;
}
