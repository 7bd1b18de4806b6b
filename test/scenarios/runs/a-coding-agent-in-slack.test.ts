import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { placeFakeCoders } from '../../support/agents/coding/fake-coders.ts';
import type { FakePlatform, PlatformRequest } from '../../support/chat/fake-platform.ts';
import { startFakeSlack } from '../../support/chat/fake-slack.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { waitFor } from '../../support/wait-for.ts';

let folder: string;
let fleet: Fleet;
let slack: FakePlatform;
let chat: ServiceProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-slack-'));
  await chmod(folder, 0o755);
  slack = await startFakeSlack();
  const { claude } = await placeFakeCoders(join(folder, 'bin'));
  const origin = join(folder, 'shop');
  execFileSync('git', ['init', '-q', origin]);
  writeFileSync(join(origin, 'shop.ts'), 'export {};\n');
  execFileSync('git', ['-C', origin, 'add', '.']);
  execFileSync('git', ['-C', origin, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'first']);
  // The recipe, with a program in the place of Claude Code and of the repository.
  fleet = await openFleet({
    settings: {
      agents: { coder: { kind: 'command', preset: 'claude-code', command: claude, workspace: { git: origin }, permissions: 'ask' } },
      routing: { agent: 'coder' },
      commands: { folder, permissionWaitMs: 100 },
    },
    env: { ...slack.env, MUSTER_DATA_DIR: join(folder, 'data') },
  });
  await fleet.start('api');
  chat = await fleet.start('chat');
}, 120_000);
afterAll(async () => {
  await fleet.stop();
  await slack.close();
  await rm(folder, { recursive: true, force: true });
});

async function post({ body, headers }: PlatformRequest): Promise<void> {
  expect((await fetch(`${chat.url}/chat/slack`, { method: 'POST', headers, body })).status).toBe(200);
}

const shows = (text: string): Promise<string> =>
  waitFor(() => slack.shown.find((message) => message.text.includes(text))?.text, { deadlineMs: 60_000, what: `"${text}" in Slack` });

it('a coding agent in Slack goes on tomorrow, in its checkout, and asks there before it does more', async () => {
  const today = await fleet.start('worker');
  await post(slack.personWrites({ text: 'write price.ts', number: 1 }));
  await shows('"turns":["write price.ts"],"files":["price.ts","shop.ts"]');
  await today.kill();
  await fleet.start('worker');
  await post(slack.personWrites({ text: 'ask npm publish', number: 2 }));
  await shows('May the agent "coder" use Bash with this?');
  expect(slack.shown.at(-1)?.buttons).toEqual(['approve', 'approve Bash for this task', 'refuse']);
  await post(slack.personPresses({ label: 'approve' }));
  const answer = await shows('"decisions":[{"behavior":"allow"');
  expect(answer).toContain('"turns":["write price.ts","ask npm publish","You asked whether you may use Bash, and a person allowed it.');
  expect(answer).toContain('"files":["price.ts","ran.txt","shop.ts"]');
}, 180_000);
