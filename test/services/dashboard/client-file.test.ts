import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createApiService } from '../../../services/api/create-api-service.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { hasNode20, node20 } from '../../support/runner/find-node-20.ts';
import { childEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';
import { builtConsole } from './built-console.ts';
import { startDashboard } from './running-dashboard.ts';
import { hasBrowser, openBrowser } from './test-browser.ts';

const built = await builtConsole();
const fleet = closeAfterTests(await startDashboard({}, { built, more: (parts) => [createApiService(parts), createWorkerService(parts)] }));
const key = await fleet.newSecret(['submit']);
const folder = await useFolder('muster-client-');

/** What a program does with the client, in words that every place understands. Resolves to what it saw. */
const PROGRAM = `async ({ createClient }, options) => {
  const client = createClient(options);
  const task = await client.send('echo', 'one two', { context: { paceMs: 20 } });
  const seen = { words: '', types: new Set() };
  for await (const event of task) {
    seen.types.add(event.type);
    if (event.type === 'output') seen.words += event.text;
  }
  const refusal = await client.send('nobody', 'hello').catch((error) => error.code);
  const many = await client.sendMany([{ agent: 'echo', input: 'three' }, { agent: 'echo', input: 'four' }]);
  const results = await Promise.all(many.map(({ task }) => task.result()));
  const upload = await client.upload(new Blob(['x'], { type: 'text/plain' }), { name: 'x.txt' });
  return { result: await task.result(), words: seen.words, types: [...seen.types].sort(), refusal, results, bytes: upload.bytes };
}`;
const SEEN = {
  result: 'one two',
  words: 'one two',
  types: ['end', 'output', 'status'],
  refusal: 'agent.unknown',
  results: ['three', 'four'],
  bytes: 1,
};

describe('the client at /client.js', () => {
  it('is one file of less than 60 KB that anybody may load, from any site, and that is loaded again only when it is another', async () => {
    const answer = await fleet.call('GET', '/client.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(answer.status).toBe(200);
    const source = await answer.text();
    expect(gzipSync(source).length).toBeLessThan(60_000);
    expect(source).not.toMatch(/\bimport\b[\s{*'"(]|\brequire\(|node:/);
    expect(source).toMatch(/\bexport ?\{/);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=0',
    });
    const headers = { 'accept-encoding': 'gzip', 'if-none-match': answer.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
    const again = await fleet.call('GET', '/client.js', { headers });
    expect(again.status).toBe(304);
  });

  it.runIf(hasBrowser)('works in a page', async () => {
    const browser = await openBrowser(fleet.url);
    try {
      // Its policy is that of every address which sets none of its own.
      await browser.page.goto(`${fleet.url}/healthz`);
      const options = JSON.stringify({ url: fleet.url, key });
      const seen: unknown = await browser.page.evaluate(`import('/client.js').then((client) => (${PROGRAM})(client, ${options}))`);
      expect(seen).toEqual(SEEN);
      browser.assertNoProblems();
    } finally {
      await browser.close();
    }
  });

  it.runIf(hasNode20)('works under Node 20', async () => {
    const source = await (await fleet.call('GET', '/client.js')).text();
    await writeFile(join(folder, 'client.mjs'), source);
    const options = JSON.stringify({ url: fleet.url, key });
    const main = `import * as client from './client.mjs';\nconsole.log(JSON.stringify(await (${PROGRAM})(client, ${options})));\n`;
    await writeFile(join(folder, 'main.mjs'), main);
    const child = spawn(node20, ['main.mjs'], { cwd: folder, env: childEnvironment() });
    const [shown, failure] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(failure).toBe('');
    expect(JSON.parse(shown)).toEqual(SEEN);
  });
});
