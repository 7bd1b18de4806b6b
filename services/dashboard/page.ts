import { type ApiKey, publicTenantId } from '#shared/tenants/index.ts';
import { html, type Html } from './html.ts';

export interface PageOptions {
  title: string;
  /** Who is signed in; null shows no navigation. */
  person: ApiKey | null;
  content: Html;
  /** `light` or `dark`; null is as the system. */
  scheme: string | null;
}

/** A whole page around its content. */
export function page({ title, person, content, scheme }: PageOptions): string {
  return html`<!doctype html>
    <html lang="en" data-scheme="${scheme ?? 'auto'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title === 'Muster' ? title : `${title} · Muster`}</title>
        <link rel="icon" type="image/svg+xml" href="/dashboard/favicon.svg" />
        <link rel="stylesheet" href="/dashboard/dashboard.css" />
      </head>
      <body>
        <header class="bar">
          <a class="brand" href="/"><img src="/dashboard/favicon.svg" alt="" width="24" height="24" />Muster</a>
          ${person === null ? null : navigation(person)}
        </header>
        <main>${content}</main>
      </body>
    </html>`.text;
}

function navigation(person: ApiKey): Html {
  return html`<nav aria-label="Main">
      <a href="/">Overview</a><a href="/chat">Chat</a><a href="/schedules">Schedules</a><a href="/board">Board</a><a href="/docs">API</a>
    </nav>
    <form class="who" method="post" action="/sign-out">
      <span title="${person.name}">${publicTenantId(person.tenant)} · ${person.scopes.join(', ')}</span
      ><button class="quiet">Sign out</button>
    </form>`;
}
