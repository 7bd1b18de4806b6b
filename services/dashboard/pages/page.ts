import { Router, type ErrorRequestHandler, type Request, type Response } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { assertMethodAllowed, logFailure, requestError, sendProblem, toMusterError, toProblem } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import { publicTenantId, type ApiKey } from '#shared/tenants/index.ts';
import { CONSOLE_PAGES } from '../console-pages.ts';
import { chosenScheme } from '../scheme-cookie.ts';
import { isApiCall, knownPerson } from '../sign-in/require-sign-in.ts';
import { pageHeaders } from './page-headers.ts';

interface PageOptions {
  title: string;
  /** The person who is signed in; null shows no navigation. */
  person: ApiKey | null;
  content: Html;
  /** `light` or `dark`; null follows the system. */
  scheme: string | null;
  /** The address of the page's script, which its headers have to allow. */
  script?: string;
}

/** A complete HTML page around its content. */
function page({ title, person, content, scheme, script }: PageOptions): string {
  return html`<!doctype html>
    <html lang="en" data-scheme="${scheme ?? 'auto'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title === 'Muster' ? title : `${title} · Muster`}</title>
        <link rel="icon" type="image/svg+xml" href="/dashboard/favicon.svg" />
        <link rel="stylesheet" href="/dashboard/frame.css" />
        <link rel="stylesheet" href="/dashboard/dashboard.css" />
        ${script === undefined ? null : html`<script src="${script}" defer></script>`}
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

/** The pages of the console that a page without a script links to. */
const WORK_PAGES = CONSOLE_PAGES.filter(({ group, inNavigation }) => group === 'work' && inNavigation !== false);

function navigation(person: ApiKey): Html {
  return html`<nav aria-label="Main">
      ${WORK_PAGES.map(({ path, text }) => html`<a href="${path}">${text}</a>`)}<a href="/board">Board</a><a href="/docs">API</a
      ><a href="/guide/">Guide</a>
    </nav>
    <form class="who" method="post" action="/sign-out">
      <span title="${person.name}">${publicTenantId(person.tenant)} · ${person.scopes.join(', ')}</span
      ><button class="quiet">Sign out</button>
    </form>`;
}

/** HTML that a page includes without escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = Html | string | number | null | undefined | readonly HtmlPart[];

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Builds HTML from a template. Values other than `Html` are escaped, lists are joined, null and undefined are left out. */
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

/** Answers an error with a page to people and with a problem to programs. */
export function sendPageError(log: Log): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const error = requestError(thrown);
    if (isApiCall(request) || response.headersSent) {
      sendProblem(response, error, log);
      return;
    }
    const known = toMusterError(error);
    if (known.code === 'internal.error') logFailure(response, thrown, log);
    const { status, title, detail, code } = toProblem(known);
    if (known.retryAfterMs !== undefined) response.set('Retry-After', String(Math.ceil(known.retryAfterMs / 1000)));
    const content = html`<section class="card narrow">
      <h1>${title}</h1>
      <p>${detail}</p>
      <p class="faint">${status} · ${code}</p>
      <p><a class="button" href="/">To the start page</a></p>
    </section>`;
    sendPage(response, { title, person: knownPerson(request), content }, status);
  };
}

/** Shows a page for an unknown address to people; programs get the server's problem. Errors: `request.not-found`, `request.method-not-allowed`. */
export function unknownPage(): Router {
  const router = Router();
  router.use(
    (request, _response, next) => (isBrowserRequest(request) ? next() : next('router')),
    ...pageHeaders('page'),
    (request, response) => {
      assertMethodAllowed(request, response);
      throw new MusterError('request.not-found', `There is no page ${request.path.slice(0, 200)}`);
    },
  );
  return router;
}

/** Only browsers request HTML explicitly. */
function isBrowserRequest(request: Request): boolean {
  return request.method === 'GET' && request.get('accept')?.includes('text/html') === true;
}
