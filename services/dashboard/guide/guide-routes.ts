import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import express, { type Response, Router } from 'express';
import { readsOnly } from '#shared/http/index.ts';
import { compressedFiles } from '../console-files.ts';
import { pageHeaders } from '../pages/page-headers.ts';
import { html, sendPage } from '../pages/page.ts';

/** Serves the guide of `directory`, the output of VitePress, to everybody; without a build it sends instructions. */
export function guideRoutes(directory: string): Router {
  const router = Router();
  router.use('/guide/assets', readsOnly(), ...compressedFiles(join(directory, 'assets')));
  // Addresses of pages have no suffix.
  const files = express.static(directory, { extensions: ['html'], setHeaders: askEachTime });
  router.use('/guide', readsOnly(), ...pageHeaders('guide'), files, async (_request, response) => {
    const missing = await readFile(join(directory, '404.html'), 'utf8').catch(() => null);
    if (missing !== null) {
      response.status(404).type('html').send(missing);
      return;
    }
    const content = html`<section class="card narrow">
      <h1>The guide is not built</h1>
      <p><code>npm start</code> builds it, and so does <code>node services/local/set-up.mjs</code>. Its pages are in <code>docs/</code>.</p>
    </section>`;
    sendPage(response, { title: 'Guide', person: null, content }, 503);
  });
  return router;
}

/** Browsers ask whether a page has changed: after a build its scripts have other names. */
function askEachTime(response: Response): void {
  response.set('Cache-Control', 'no-cache');
}
