import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SiteConfig } from 'vitepress';
import { NAVIGATION } from './navigation.ts';
import { GENERATED } from './reference/generated-pages.ts';
import { readSource } from './sources.ts';

/** Writes `llms.txt` (https://llmstxt.org), each page as Markdown beside it, and all of them in `llms-full.txt`. */
export function addLanguageModelFiles({ outDir, site }: SiteConfig): void {
  const lines = [`# ${site.title}`, '', `> ${site.description}`];
  const texts: string[] = [];
  for (const group of NAVIGATION) {
    lines.push('', `## ${group.text}`, '');
    for (const [name, title] of Object.entries(group.pages)) {
      const page = `${name}.md`;
      const text = GENERATED[name.slice('reference/'.length)] ?? readSource(`docs/${page}`);
      const file = join(outDir, page);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      texts.push(text);
      lines.push(`- [${title}](${site.base}${page})${aboutOf(text)}`);
    }
  }
  writeFileSync(join(outDir, 'llms.txt'), `${lines.join('\n')}\n`);
  writeFileSync(join(outDir, 'llms-full.txt'), texts.join('\n\n'));
}

/** The first sentence of a page. */
function aboutOf(text: string): string {
  const paragraph = /^# .*\n+([A-Z][^]*?)(?:\n\n|$)/m.exec(text)?.[1]?.replaceAll('\n', ' ') ?? '';
  const sentence = /^.*?[.:](?= |$)/.exec(paragraph)?.[0].replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return sentence === undefined ? '' : `: ${sentence.replace(/:$/, '.')}`;
}
