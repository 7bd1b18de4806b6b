import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { html } from './html.ts';
import { personOf } from './require-sign-in.ts';
import { sendPage } from './send-page.ts';

/** Answers with the console's page, which finds its way by the address; with how to build it when nobody has. `directory` is what Vite wrote. */
export function sendConsole(directory: string): RequestHandler {
  const file = join(directory, 'index.html');
  return async (request, response) => {
    // Read each time: the names of its scripts change with each build, and it is a kilobyte.
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
