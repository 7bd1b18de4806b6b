import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Html, html } from '../pages/page.ts';

interface BoardPageOptions {
  basePath: string;
  /** Bull Board's settings as JSON without `<` and `>`. */
  config: string;
  assets: readonly string[];
}

/** The page that Bull Board's application runs in. */
export function boardPage({ basePath, config, assets }: BoardPageOptions): string {
  const styles = assets.filter((path) => path.endsWith('.css'));
  const scripts = assets.filter((path) => path.endsWith('.js'));
  return html`<!doctype html>
    <html lang="en" dir="ltr">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <base href="${basePath}" />
        <title>Board · Muster</title>
        <link rel="icon" type="image/svg+xml" href="/dashboard/favicon.svg" />
        ${styles.map((path) => html`<link rel="stylesheet" href="${path}" />`)}
      </head>
      <body class="preload">
        <script id="__UI_CONFIG__" type="application/json">
          ${new Html(config)}
        </script>
        <div id="root"></div>
        ${scripts.map((path) => html`<script defer src="${path}"></script>`)}
      </body>
    </html>`.text;
}

const ASSET = /(?:src|href)="(static\/[^"]+\.(?:js|css))"/g;

interface BoardAssets {
  /** The folder of Bull Board's user interface. */
  directory: string;
  /** Scripts and styles that its page loads, in order. */
  assets: string[];
}

/** Finds the files that Bull Board's page loads. Their names hold digests that differ between versions. */
export function findBoardAssets(): BoardAssets {
  const directory = dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'));
  const template = readFileSync(join(directory, 'dist', 'index.ejs'), 'utf8');
  const assets = [...template.matchAll(ASSET)].map(([, path = '']) => path);
  if (assets.length === 0) throw new Error('The page of @bull-board/ui names no scripts; its layout has changed');
  return { directory, assets };
}

/** The table of a ticket's buttons; its minified name differs between versions. */
const BUTTONS = /([\w$]+)=\{updateData:\{titleKey:"UPDATE_DATA"/;
const REFUSED = ['updateData', 'duplicate', 'reschedule', 'reprioritise', 'promote', 'removeChildren'];

interface TicketScript {
  /** Its path below the folder of scripts. */
  name: string;
  text: string;
}

/**
 * Reads Bull Board's script of a ticket without the buttons that would change the ticket but not its task; no setting hides them.
 * The names of its files differ between versions.
 */
export function ticketScript(directory: string): TicketScript {
  const folder = join(directory, 'js', 'async');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const [, table] = BUTTONS.exec(text) ?? [];
    if (table !== undefined) return { name: `js/async/${file}`, text: withoutButtons(text, table) };
  }
  throw new Error('No script of @bull-board/ui has the buttons of a ticket; its layout has changed');
}

/** Removes the refused buttons from each list; another button always follows them. */
function withoutButtons(text: string, table: string): string {
  return text.replaceAll(new RegExp(`(?<![\\w$])${RegExp.escape(table)}\\.(?:${REFUSED.join('|')}),`, 'g'), '');
}
