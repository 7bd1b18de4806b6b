import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { childEnvironment } from '../../../../../support/test-environment.ts';
import { waitFor } from '../../../../../support/wait-for.ts';
import { startConsole, type RunningConsole } from '../../../start-console.ts';
import { hasBrowser } from '../../../test-browser.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let folder: string;

/** A repository with one file. */
async function makeOrigin(): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'muster-workspace-'));
  const git = (...words: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: folder });
  git('init', '-q', '-b', 'trunk');
  await writeFile(join(folder, 'parser.txt'), 'one\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  return folder;
}

beforeAll(async () => {
  if (!hasBrowser) return;
  const git = await makeOrigin();
  const workspace = { git };
  web = await startConsole({
    env: { PATH: childEnvironment()['PATH'] ?? '' },
    settings: {
      agents: {
        builder: { kind: 'command', command: ['/bin/sh', '-c', 'echo two >> parser.txt; echo built'], workspace },
        talker: { kind: 'command', command: ['/bin/echo', 'hello'] },
      },
      routing: { agent: 'builder' },
      commands: { uid: 'own' },
    },
  });
}, 180_000);
afterAll(async () => {
  if (!hasBrowser) return;
  await web.close();
  await rm(folder, { recursive: true, force: true });
});

async function say(session: string, agent: string): Promise<void> {
  const { id } = await web.api<{ id: string }>('POST', `/v1/sessions/${session}/messages`, { text: 'Go on', agent });
  const isDone = async (): Promise<boolean> => (await web.api<{ status: string }>('GET', `/v1/tasks/${id}`)).status === 'completed';
  await waitFor(isDone, { deadlineMs: 60_000, what: `${agent} to answer` });
}

test.skipIf(!hasBrowser)(
  'a chat shows what its coding agent has changed in its checkout, and a chat without one has no such button',
  async () => {
    const button = web.page.getByRole('button', { name: 'Workspace', exact: true });
    await say('with', 'builder');
    await web.open('/sessions/with');
    await button.click();
    const workspace = web.page.getByRole('region', { name: 'Workspace of builder' });
    await workspace.getByText(/parser\.txt \| 1 \+/).waitFor();
    await web.expectPage('a chat with a workspace');
    await web.page.keyboard.press('Escape');
    await workspace.waitFor({ state: 'hidden' });
    await say('without', 'talker');
    await web.open('/sessions/without');
    await web.page.getByText('hello', { exact: true }).first().waitFor();
    expect(await button.count()).toBe(0);
    web.browser.assertNoProblems();
  },
);
