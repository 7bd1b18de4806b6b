import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { html, sendPage } from './pages/page.ts';
import { personOf } from './sign-in/require-sign-in.ts';

/** Sends the console's page from `directory`, the output of Vite; without a build it sends instructions. */
export function sendConsole(directory: string): RequestHandler {
  const file = join(directory, 'index.html');
  return async (request, response) => {
    // The page is read each time, because each build renames its scripts. It has about a kilobyte.
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

/** The encodings in which the build writes each text file, smallest first. */
const ENCODINGS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

/** Each name holds a digest of its file, so browsers may cache it without an end. */
const CACHE_OPTIONS = { index: false, redirect: false, immutable: true, maxAge: '365d' } as const;

/** Of a file whose name stays: browsers ask each time whether theirs is still the file. */
const ASKED_OPTIONS = { index: false, redirect: false, maxAge: 0 } as const;
type CacheOptions = typeof CACHE_OPTIONS | typeof ASKED_OPTIONS;

/**
 * Serves `client.js` of a folder, the client for pages of other programs. They may be of another site: the file says nothing that the
 * repository does not.
 */
export function clientFile(directory: string): RequestHandler[] {
  return [
    (_request, response, next) => {
      response.set({ 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' });
      next();
    },
    ...compressedFiles(directory, ASKED_OPTIONS),
  ];
}

/**
 * Serves the files of a folder in the smallest encoding that the caller accepts, else uncompressed.
 *
 * `sirv` and `express-static-gzip` read the folder once and would miss the files of a later build.
 */
export function compressedFiles(directory: string, cache: CacheOptions = CACHE_OPTIONS): RequestHandler[] {
  return [
    (_request, response, next) => {
      response.vary('Accept-Encoding');
      next();
    },
    ...ENCODINGS.map((each) => filesOfEncoding(directory, { ...each, cache })),
    express.static(directory, cache),
  ];
}

function filesOfEncoding(
  directory: string,
  { encoding, suffix, cache }: (typeof ENCODINGS)[number] & { cache: CacheOptions },
): RequestHandler {
  const files = express.static(directory, {
    ...cache,
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
