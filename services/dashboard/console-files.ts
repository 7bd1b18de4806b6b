import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { html, sendPage } from './pages/page.ts';
import { personOf } from './sign-in/require-sign-in.ts';

/** Sends the console's page from `directory`, the output of Vite; without a build it sends how to build it. */
export function sendConsole(directory: string): RequestHandler {
  const file = join(directory, 'index.html');
  return async (request, response) => {
    // It is read each time, because each build changes the names of its scripts. It has about a kilobyte.
    const page = await readFile(file, 'utf8').catch(nullWhenMissing);
    if (page !== null) {
      response.type('html').send(page);
      return;
    }
    const content = html`<section class="card narrow">
      <h1>The console is not built</h1>
      <p><code>npm start</code> builds it. On its own, from the root of the repository:</p>
      <pre>npx vite build services/dashboard/console</pre>
      <p>Then reload this page. <a href="/board">The board</a> and <a href="/docs">the API</a> work without it.</p>
    </section>`;
    sendPage(response, { title: 'Console', person: personOf(request), content }, 503);
  };
}

function nullWhenMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** The compressed forms that the build writes of each text, the smallest first. */
const FORMS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

/** Each name has a digest of its file, so that browsers may cache it for ever. */
const KEPT = { index: false, redirect: false, immutable: true, maxAge: '365d' } as const;

/**
 * Serves the files of a folder in the smallest form that the caller accepts and the build wrote, else uncompressed.
 *
 * `sirv` and `express-static-gzip` read the folder once and would not find the files of a later build.
 */
export function compressedFiles(directory: string): RequestHandler[] {
  return [
    (_request, response, next) => {
      response.vary('Accept-Encoding');
      next();
    },
    ...FORMS.map((form) => filesOfForm(directory, form)),
    express.static(directory, KEPT),
  ];
}

function filesOfForm(directory: string, { encoding, suffix }: (typeof FORMS)[number]): RequestHandler {
  const files = express.static(directory, {
    ...KEPT,
    setHeaders: (response, path) => {
      response.type(extname(path.slice(0, -suffix.length)));
      response.set('Content-Encoding', encoding);
    },
  });
  return (request, response, next) => {
    if (request.acceptsEncodings(encoding) === false) {
      next();
      return;
    }
    const { url } = request;
    request.url = `${request.path}${suffix}`;
    files(request, response, (error?: unknown) => {
      request.url = url;
      next(error);
    });
  };
}
