import type { MarkdownRenderer } from 'vitepress';

/** Vue would take `{{ name }}` in a page, as templates of hooks have it, for an expression of its own. */
export function keepBraces(markdown: MarkdownRenderer): void {
  for (const rule of ['text', 'code_inline'] as const) {
    const render = markdown.renderer.rules[rule];
    markdown.renderer.rules[rule] = (...args) => (render?.(...args) ?? '').replaceAll('{{', '&#123;&#123;');
  }
}
