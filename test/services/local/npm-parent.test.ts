import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { childEnvironment } from '../../support/test-environment.ts';

const MODULE = new URL('../../../services/local/npm-parent.mjs', import.meta.url).href;
/** A command that runs until a signal reaches it, as a daemon does. */
const COMMAND = `
const { endWithNpm } = await import('${MODULE}');
endWithNpm();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { console.log(signal); process.exit(0); });
setInterval(() => undefined, 1000);
console.log('up');
`;

/** A shell in the place of npm, or of what else starts it, whose child the command is; resolves with all that the command writes once it is up and `end` was done. */
async function underNpm(variables: Record<string, string>, end: (npm: number) => void): Promise<string> {
  const script = `'${process.execPath}' --input-type=module --eval "$COMMAND" & wait`;
  const env = childEnvironment({ COMMAND, npm_command: '', ...variables });
  const npm = spawn('/bin/sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const written = text(npm.stdout);
  await once(npm.stdout, 'data');
  end(npm.pid ?? 0);
  return await written;
}

it.each([
  ['npx', { npm_command: 'exec' }],
  ['npm start', { npm_command: 'start' }],
  ['npm run of npm 11', { npm_command: 'run' }],
  ['npm run of npm 10', { npm_command: 'run-script' }],
  ['muster of an older Node', { MUSTER_CLI_NODE: 'tried' }],
])('a command ends as by SIGTERM when the %s that started it is killed', async (_name, variables) => {
  expect(await underNpm(variables, (npm) => process.kill(npm, 'SIGKILL'))).toContain('SIGTERM');
});

it('a command that a signal has reached gets no second one when npx ends before it', async () => {
  expect(await underNpm({ npm_command: 'exec' }, (npm) => process.kill(-npm, 'SIGINT'))).not.toContain('SIGTERM');
});
