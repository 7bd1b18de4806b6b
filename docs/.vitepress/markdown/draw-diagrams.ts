import { type RenderOptions, renderMermaidSVG } from 'beautiful-mermaid';
import type { MarkdownRenderer } from 'vitepress';

/** The colours of the theme, which follow its switch between light and dark. */
const COLOURS: RenderOptions = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  line: 'var(--diagram-line)',
  accent: 'var(--vp-c-brand-1)',
  muted: 'var(--vp-c-text-2)',
  surface: 'var(--diagram-surface)',
  border: 'var(--diagram-border)',
  font: 'system-ui',
  transparent: true,
};

/** Blocks in Mermaid become pictures when the site is built, so that no browser loads a library for them. */
export function drawDiagrams(markdown: MarkdownRenderer): void {
  const fence = markdown.renderer.rules.fence;
  let drawn = 0;
  markdown.renderer.rules.fence = (...args) => {
    const [tokens, index] = args;
    const token = tokens[index];
    if (token?.info.trim() !== 'mermaid') return fence?.(...args) ?? '';
    drawn += 1;
    return `<figure class="diagram" tabindex="0">${svgOf(token.content, `diagram-${drawn}`)}</figure>\n`;
  };
}

function svgOf(source: string, prefix: string): string {
  return (
    renderMermaidSVG(source, COLOURS)
      // Its fonts would come from another host.
      .replaceAll(/@import url\([^)]*\);?/g, '')
      // Several pictures of a page name their arrows alike.
      .replaceAll(/(\bid="|url\(#|href="#)/g, `$1${prefix}-`)
      // Vue refuses a style element in a page.
      .replaceAll('<style>', '<component is="style">')
      .replaceAll('</style>', '</component>')
      .replace('<svg ', '<svg role="img" aria-label="Diagram, whose text follows" ')
  );
}
