import type { MarkdownRenderer } from 'vitepress';

/** Makes blocks that VitePress would show badly into those that it shows well. */
export function repairBlocks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('repair-blocks', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      // Indented code would be wider than the page.
      if (token.type === 'code_block') Object.assign(token, { type: 'fence', tag: 'code', info: 'text' });
      // A heading of a table without a word would be read aloud as one: it becomes a plain cell.
      if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') continue;
      token.tag = 'td';
      const end = tokens[index + 2];
      if (end !== undefined) end.tag = 'td';
    }
  });
}
