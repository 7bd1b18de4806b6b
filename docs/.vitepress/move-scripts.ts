import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SiteConfig } from 'vitepress';

const INLINE_SCRIPT = /<script(?: id="[\w-]+")?>([^<]+)<\/script>/g;

/** Moves the scripts of a page's head into files, because the content policy of a fleet allows no inline scripts. */
export function moveScripts(html: string, { outDir, assetsDir, site }: SiteConfig): string {
  return html.replaceAll(INLINE_SCRIPT, (_element, script: string) => {
    const name = `${assetsDir}/head.${createHash('sha256').update(script).digest('hex').slice(0, 8)}.js`;
    mkdirSync(join(outDir, assetsDir), { recursive: true });
    writeFileSync(join(outDir, name), script);
    return `<script src="${site.base}${name}"></script>`;
  });
}
