import { type ApiKey, publicTenantId } from '#shared/tenants/index.ts';
import type { Response } from 'express';
import { chosenScheme } from '../scheme-cookie.ts';

interface PageOptions {
  title: string;
  /** Who is signed in; null shows no navigation. */
  person: ApiKey | null;
  content: Html;
  /** `light` or `dark`; null is as the system. */
  scheme: string | null;
}

/** A whole page around its content. */
function page({ title, person, content, scheme }: PageOptions): string {
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

/** HTML that may stand in a page as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = Html | string | number | null | undefined | readonly HtmlPart[];

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Builds HTML from a template. Every value is escaped, unless it is `Html` already; lists are joined, null and undefined are nothing. */
export function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return new Html(strings.map((text, position) => (position === 0 ? text : `${toText(parts[position - 1])}${text}`)).join(''));
}

function toText(part: HtmlPart): string {
  if (part === null || part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number')
    return String(part).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
  return part.map(toText).join('');
}

export function sendPage(response: Response, options: Omit<PageOptions, 'scheme'>, status = 200): void {
  const scheme = chosenScheme(response.req.get('cookie'));
  response
    .status(status)
    .type('html')
    .send(page({ ...options, scheme }));
}
