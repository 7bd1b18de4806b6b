import { defineConfig } from 'vitepress';
import { compressAssets } from './compress-assets.ts';
import { addLanguageModelFiles } from './language-model-files.ts';
import { sidebar } from './navigation.ts';
import { drawDiagrams } from './markdown/draw-diagrams.ts';
import { anchorOf } from './markdown/anchor-of.ts';
import { repairBlocks } from './markdown/repair-blocks.ts';
import { keepBraces } from './markdown/keep-braces.ts';
import { resolveLinks } from './markdown/resolve-links.ts';
import { moveScripts } from './move-scripts.ts';
import { nameControls } from './name-controls.ts';

export default defineConfig({
  title: 'Muster',
  description: 'A self-hosted fleet for agent work: chat, webhooks, schedules and an API, with nothing lost and every wait explained.',
  lang: 'en',
  base: '/guide/',
  cleanUrls: true,
  // A test checks the links, with their anchors.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    // Braces at the end of a line are text, as in the address of an endpoint.
    attrs: { disable: true },
    config: (markdown) => {
      resolveLinks(markdown);
      drawDiagrams(markdown);
      keepBraces(markdown);
      repairBlocks(markdown);
    },
  },
  vite: { plugins: [nameControls()] },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Guides', link: '/agents' },
      { text: 'Reference', link: '/api' },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    docFooter: { prev: 'Before', next: 'Next' },
    externalLinkIcon: true,
  },
  // Here and not in `head`, because `--base` is known only now.
  transformHead: ({ siteData }) => [['link', { rel: 'icon', type: 'image/svg+xml', href: `${siteData.base}icon.svg` }]],
  transformHtml: (html, _id, { siteConfig }) => moveScripts(html, siteConfig),
  buildEnd: async (site) => {
    addLanguageModelFiles(site);
    await compressAssets(site);
  },
});
