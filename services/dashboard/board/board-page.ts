import { Html, html } from '../html.ts';

export interface BoardPageOptions {
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
